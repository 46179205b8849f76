/**
 * Where the bytes of DATA are kept while they arrive, for inbound mail and submission. A message that is too large is
 * read to its end and discarded, so that the client gets the reason.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { SpooledMessage } from '@agent-mailbox/mail-store';
import type { SMTPServerDataStream } from 'smtp-server';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { openSpool } from '#mailstore/blobs/spool.ts';
import { SmtpReply } from './smtp-reply.ts';

export interface SmtpSpool {
  /**
   * @param cutOff called when a client ignores the limit by far
   * @returns the message; call its `discard` always
   * @throws {SmtpReply} 552, if it is too large
   * @throws if the client disconnects before the end
   */
  receive(stream: SMTPServerDataStream, cutOff: () => void): Promise<SpooledMessage>;
}

/** A client that sends more than this many times the limit is disconnected. */
const OVERRUN_FACTOR = 2;

/** @param dataFolder of the process (DATA_DIR); the spool is a folder in it, which is created when needed */
export function smtpSpool(dataFolder: string): SmtpSpool {
  const folder = path.join(dataFolder, 'spool');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    async receive(stream, cutOff) {
      const spool = openSpool(folder, 0);
      let size = 0;
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          size += chunk.length;
          if (size > MESSAGE_MAX_BYTES * OVERRUN_FACTOR) cutOff();
          if (size > MESSAGE_MAX_BYTES) await spool.discard();
          else await spool.write(chunk);
        }
      } catch (error) {
        await spool.discard();
        throw error;
      }
      if (size > MESSAGE_MAX_BYTES)
        throw new SmtpReply(552, '5.3.4', `The message is larger than ${MESSAGE_MAX_BYTES} bytes`);
      return spool.end();
    },
  };
}
