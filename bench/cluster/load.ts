/**
 * The load of a cluster: its clients try each operation at the two copies of its process in turn, like a client with both
 * addresses. The ledger, and the clients that `prove` has too, are in `operations/prove/`.
 */

import { ImapFlow } from 'imapflow';
import { openRestClient, openSmtpClient, property, type TryOutcome } from '#operations/prove/clients.ts';
import {
  inTurn,
  LARGE_BYTES,
  LARGE_EVERY,
  type Ledger,
  loadMessage,
  type OperationKind,
  SMALL_BYTES,
  startOperations,
  type Tries,
} from '#operations/prove/ledger.ts';
import { type Cluster, type LoadMailbox, SENDER, type WantedEndpoint } from './cluster.ts';

const ANSWER_WITHIN_MS = 15_000;
const FOLDER = 'Archive';

export interface ImapClient {
  append(message: Buffer): Promise<TryOutcome>;
  close(): void;
}

/** Files messages by APPEND over one connection, which it opens again as needed. */
function openImapClient(port: number, ca: string, { address, token }: LoadMailbox): ImapClient {
  let client: ImapFlow | undefined;
  let last: Promise<unknown> = Promise.resolve();
  function drop(): void {
    client?.close();
    client = undefined;
  }
  async function connected(): Promise<ImapFlow> {
    if (client?.usable) return client;
    const fresh = new ImapFlow({
      ...{ host: '127.0.0.1', port, secure: true, auth: { user: address, pass: token }, tls: { ca }, logger: false },
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
    } catch {
      drop();
      return { kind: 'unreachable' }; // nothing was appended yet
    }
    try {
      const result = await within(opened.append(FOLDER, message, ['\\Seen']));
      return result === false ? { kind: 'uncertain' } : { kind: 'accepted' };
    } catch (error) {
      const response = property(error, 'responseStatus');
      if (response === 'NO' || response === 'BAD')
        return { kind: 'deferred', by: `${response} ${property(error, 'serverResponseCode')}`.trim() };
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

const ALL_TYPES = ['email_received', 'email_sent', 'mailbox_created'] as const;
export const LOAD_ENDPOINTS: readonly WantedEndpoint[] = [
  { path: '/ok-1', eventTypes: ALL_TYPES },
  { path: '/ok-2', eventTypes: ALL_TYPES },
  { path: '/flaky', eventTypes: ALL_TYPES },
  { path: '/slow', eventTypes: ['email_sent'] },
];

/** Of ten operations. */
const MIX: readonly OperationKind[] = [
  ...(['inbound', 'mailbox', 'inbound', 'send', 'inbound'] as const),
  ...(['mailbox', 'append', 'inbound', 'send', 'mailbox'] as const),
];
const CUSTOMERS = 50;

export interface Load extends Omit<Ledger, 'close'> {
  readonly beganMs: number;
  close(): Promise<void>;
}

export function startLoad({ of, customer, ca }: Cluster, perSecond: number): Load {
  const { mailboxes, apiKey } = customer;
  const appendTo = inTurn(mailboxes, 0);
  const rest = of('api').map(({ port }) => openRestClient(`http://127.0.0.1:${port('API_PORT')}`, apiKey));
  const smtp = of('mail').map(({ port }) => openSmtpClient(port('SMTP_PORT'), ca));
  const imap = of('mail').map(({ port }) => openImapClient(port('IMAPS_PORT'), ca, appendTo));

  function tryOf(kind: OperationKind, n: number, mark: string): Tries {
    const mailbox = kind === 'append' ? appendTo : inTurn(mailboxes, n);
    if (kind === 'mailbox') return [0, (turn) => inTurn(rest, turn).createMailbox(mark)];
    if (kind === 'send')
      return [0, (turn) => inTurn(rest, turn).sendMessage(mailbox.id, `customer-${n % CUSTOMERS}@customer.test`, mark)];
    const message = loadMessage(mark, mailbox.address, n % LARGE_EVERY === 0 ? LARGE_BYTES : SMALL_BYTES, SENDER);
    if (kind === 'append') return [message.length, (turn) => inTurn(imap, turn).append(message)];
    return [message.length, (turn) => inTurn(smtp, turn).send(SENDER, mailbox.address, message)];
  }

  const beganMs = Date.now();
  const ledger = startOperations(MIX, perSecond, tryOf);
  return {
    beganMs,
    operations: ledger.operations,
    get skipped() {
      return ledger.skipped;
    },
    finish: (withinMs) => ledger.finish(withinMs),
    async close() {
      ledger.close();
      for (const client of [...smtp, ...imap]) client.close();
      await Promise.all(rest.map((client) => client.close()));
    },
  };
}
