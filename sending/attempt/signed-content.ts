/** The bytes of a message with its DKIM signature, made once: every attempt sends the same. */

import { type OutboundMessage, readContent, type Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import { hasAsciiHeader, withAsciiHeader } from '#sending/transports/ascii-header.ts';
import { signMessage } from '#sending/transports/dkim.ts';

/** One buffer, as transmitted; the message itself is the rest of it. */
export interface SignedContent {
  readonly signed: Buffer;
  readonly bytes: Buffer;
  /** The same without UTF-8 in its header; undefined: there is none in it. */
  readonly asciiHeader: (() => Promise<Buffer>) | undefined;
}

export async function readSigned(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
): Promise<SignedContent> {
  const bytes = await readContent(services.db, message);
  const asciiHeader = hasAsciiHeader(bytes)
    ? undefined
    : async () => {
        const ascii = withAsciiHeader(bytes);
        return Buffer.concat([Buffer.from(await signMessage(services, sender, ascii)), ascii]);
      };
  const signature = await signatureOf(services, sender, message, bytes);
  if (signature === '') return { signed: bytes, bytes, asciiHeader };
  const head = Buffer.from(signature);
  const signed = Buffer.concat([head, bytes]);
  return { signed, bytes: signed.subarray(head.length), asciiHeader };
}

async function signatureOf(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
): Promise<string> {
  if (message.dkimSignature !== null) return message.dkimSignature;
  const made = await signMessage(services, sender, bytes);
  const [row] = await services.db.query<{ signature: string }>(
    `update outbound_message set dkim_signature = coalesce(dkim_signature, $2) where id = $1
     returning dkim_signature as signature`,
    [message.id, made],
  );
  return row?.signature ?? made;
}
