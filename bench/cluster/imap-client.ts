/** A mail client that files messages by APPEND at one mail process, over one connection that it opens again as needed. */
import { ImapFlow } from 'imapflow';
import type { LoadMailbox } from './subscriber.ts';
import { failedTry, type TryOutcome } from './try-outcome.ts';

const ANSWER_WITHIN_MS = 15_000;

export interface ImapClient {
  append(message: Buffer): Promise<TryOutcome>;
  close(): void;
}

const FOLDER = 'Archive';

export function openImapClient(port: number, ca: string, { address, token }: LoadMailbox): ImapClient {
  let client: ImapFlow | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function drop(): void {
    client?.close();
    client = undefined;
  }

  async function connected(): Promise<ImapFlow> {
    if (client?.usable) return client;
    const fresh = new ImapFlow({
      host: '127.0.0.1',
      port,
      secure: true,
      auth: { user: address, pass: token },
      tls: { ca },
      logger: false,
      connectionTimeout: ANSWER_WITHIN_MS,
      greetingTimeout: ANSWER_WITHIN_MS,
      socketTimeout: 4 * ANSWER_WITHIN_MS,
    });
    fresh.on('error', () => fresh.close());
    client = fresh;
    await fresh.connect();
    return fresh;
  }

  async function append(message: Buffer): Promise<TryOutcome> {
    let opened: ImapFlow;
    try {
      opened = await within(connected());
    } catch (error) {
      drop();
      const failed = failedTry(error);
      return failed.kind === 'uncertain' ? { kind: 'unreachable' } : failed; // nothing was appended yet
    }
    try {
      const result = await within(opened.append(FOLDER, message, ['\\Seen']));
      return result === false ? { kind: 'uncertain' } : { kind: 'accepted' };
    } catch (error) {
      const response = error instanceof Error && 'responseStatus' in error ? String(error.responseStatus) : '';
      const code = error instanceof Error && 'serverResponseCode' in error ? String(error.serverResponseCode) : '';
      if (response === 'NO' || response === 'BAD') return { kind: 'deferred', by: `${response} ${code}`.trim() };
      drop();
      return { kind: 'uncertain' };
    }
  }

  return {
    append(message) {
      const own = last.then(() => append(message));
      last = own.catch(() => {});
      return own;
    },
    close: drop,
  };
}

async function within<Result>(work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), ANSWER_WITHIN_MS);
  work.catch(() => {});
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
