/**
 * The load and its clients. Operations start at a constant rate, whatever happens to earlier ones. Each is tried until it is
 * accepted, at the two copies of its process in turn, like a client with both addresses. The ledger keeps the answers that
 * the clients got: the rows of the database and the receivers' counts are compared with them.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { Pool } from 'undici';
import { type Cluster, type LoadMailbox, SENDER, type WantedEndpoint } from './cluster.ts';

/** The outcome of one try for a client. */
type TryOutcome =
  | { readonly kind: 'accepted'; readonly tokenMissing?: boolean }
  /** The server answered "try again". */
  | { readonly kind: 'deferred'; readonly by: string; readonly afterMs?: number | undefined }
  /** No answer: it is unknown whether it was accepted. */
  | { readonly kind: 'uncertain' }
  /** There was no connection: certainly not accepted. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly by: string };

const ANSWER_WITHIN_MS = 15_000;
const CONNECT_WITHIN_MS = 3_000;
const REST_CONNECTIONS = 8;
const SMTP_CONNECTIONS = 4;
const FOLDER = 'Archive';

const property = (error: unknown, name: string): string =>
  error instanceof Error && name in error ? String(Object(error)[name]) : '';

/** Of a connection that failed. */
function failedTry(error: unknown): TryOutcome {
  const codes = [error, error instanceof Error ? error.cause : undefined].map((each) => property(each, 'code'));
  const unreachable =
    codes.some((code) => ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)) ||
    property(error, 'message').includes('ECONNREFUSED');
  return { kind: unreachable ? 'unreachable' : 'uncertain' };
}

interface RestClient {
  createMailbox(name: string): Promise<TryOutcome>;
  sendMessage(mailboxId: string, to: string, subject: string): Promise<TryOutcome>;
  close(): Promise<void>;
}

/** Each request has an Idempotency-Key, which its repetitions keep. */
export function openRestClient(apiUrl: string, apiKey: string): RestClient {
  const pool = new Pool(apiUrl, {
    connections: REST_CONNECTIONS,
    pipelining: 1,
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
    connect: { timeout: CONNECT_WITHIN_MS },
  });
  async function post(path: string, key: string, content: unknown, hasToken: boolean): Promise<TryOutcome> {
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'x-organization-key': apiKey, 'idempotency-key': key },
        body: JSON.stringify(content),
      });
      const text = await body.text();
      if (statusCode === 201) return { kind: 'accepted', tokenMissing: hasToken && !/"token":"/.test(text) };
      const again = statusCode >= 500 || statusCode === 429 || (statusCode === 409 && text.includes('still running'));
      if (!again) return { kind: 'refused', by: `${statusCode} ${text.slice(0, 200)}` };
      const afterMs = Number(headers['retry-after']) * 1_000;
      if (Number.isFinite(afterMs)) return { kind: 'deferred', by: `${statusCode}`, afterMs };
      return { kind: 'deferred', by: `${statusCode}${statusCode >= 500 ? ' without Retry-After' : ''}` };
    } catch (error) {
      return failedTry(error);
    }
  }
  return {
    createMailbox: (name) => post('/api/mailboxes', name, { name }, true),
    sendMessage: (mailboxId, to, subject) =>
      post(`/api/mailboxes/${mailboxId}/messages`, subject, { to: [to], subject, text: 'Your order is ready.' }, false),
    close: () => pool.destroy(),
  };
}

interface SmtpClient {
  send(from: string, to: string, message: Buffer): Promise<TryOutcome>;
  close(): void;
}

/** A sending mail server with several connections. @param ca root certificate, PEM */
function openSmtpClient(port: number, ca: string): SmtpClient {
  const transport = createTransport({
    ...{ pool: true, maxConnections: SMTP_CONNECTIONS, maxMessages: 1_000 },
    ...{ host: '127.0.0.1', port, name: 'sender.test', tls: { ca } },
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: ANSWER_WITHIN_MS,
    socketTimeout: ANSWER_WITHIN_MS,
  });
  return {
    async send(from, to, message) {
      try {
        await transport.sendMail({ envelope: { from, to: [to] }, raw: message });
        return { kind: 'accepted' };
      } catch (error) {
        const code = Number.parseInt(property(error, 'responseCode'), 10);
        if (Number.isNaN(code)) return failedTry(error);
        if (code < 500) return { kind: 'deferred', by: String(code) };
        return { kind: 'refused', by: `${code} ${property(error, 'message').slice(0, 120)}` };
      }
    },
    close: () => transport.close(),
  };
}

interface ImapClient {
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

/**
 * - `mailbox`: POST /api/mailboxes → mailbox_created
 * - `inbound`: a mail by SMTP → email_received
 * - `append`: IMAP APPEND
 * - `send`: POST /api/mailboxes/:id/messages → email_sent, and the mail at the relay
 */
export const OPERATION_KINDS = ['mailbox', 'inbound', 'append', 'send'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

export interface Operation {
  readonly kind: OperationKind;
  /** Part of the name of the mailbox, of the Message-ID, or of the subject, by kind. */
  readonly mark: string;
  readonly beganAtMs: number;
  acceptedAtMs: number | undefined;
  tries: number;
  /** Tries with an unknown outcome: no answer arrived. */
  uncertain: number;
  /** Tries that were refused with a status that says "try again", by status or code. */
  readonly deferrals: Map<string, number>;
  /** The result of the last try. */
  lastTry: string;
  /** A refusal for good, which nothing in this load deserves. */
  refused: string | undefined;
  /** The answer lacked the token of the new mailbox. */
  tokenMissing: boolean;
  /** Bytes of the message as sent; 0 if there is none. */
  readonly bytes: number;
}

export const newOperation = (kind: OperationKind, mark: string, bytes: number): Operation => ({
  ...{ kind, mark, bytes, beganAtMs: Date.now(), acceptedAtMs: undefined, tries: 0, uncertain: 0 },
  ...{ deferrals: new Map(), lastTry: 'none', refused: undefined, tokenMissing: false },
});

/** Neither accepted nor refused. */
export const isOpen = ({ acceptedAtMs, refused }: Operation): boolean =>
  acceptedAtMs === undefined && refused === undefined;

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
const RETRY_AFTER_MS = 1_000;
/** More than these at once are not begun: the machine of the clients has its limits, too. */
const OPEN_MAX = 1_500;
const CUSTOMERS = 50;

/** Most are small; every sixth is too large to be kept in memory while it is received. */
const SMALL_BYTES = 2_000;
const LARGE_BYTES = 400_000;
const LARGE_EVERY = 6;
const LINE = `${'The quick brown fox jumps over the lazy dog near the old mill. '.slice(0, 62)}\r\n`;

/** @param mark part of the Message-ID and the subject, so that no two have the same content */
function loadMessage(mark: string, to: string, bytes = SMALL_BYTES): Buffer {
  const header =
    `Date: ${new Date().toUTCString()}\r\nFrom: Load Maker <${SENDER}>\r\nTo: <${to}>\r\nSubject: ${mark}\r\n` +
    `Message-ID: <${mark}@sender.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`;
  return Buffer.from(header + LINE.repeat(Math.ceil(bytes / LINE.length)));
}

export interface Load {
  readonly beganMs: number;
  readonly operations: readonly Operation[];
  /** Operations that were not begun because too many were open. */
  readonly skipped: number;
  /** Starts no more operations; resolves when all started ones have ended, or after this time. */
  finish(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

function inTurn<Each>(each: readonly Each[], turn: number): Each {
  const one = each[turn % each.length];
  if (one === undefined) throw new Error('there is none to turn to');
  return one;
}

export function startLoad({ of, customer, ca }: Cluster, perSecond: number): Load {
  const { mailboxes, apiKey } = customer;
  const appendTo = inTurn(mailboxes, 0);
  const rest = of('api').map(({ port }) => openRestClient(`http://127.0.0.1:${port('API_PORT')}`, apiKey));
  const smtp = of('mail').map(({ port }) => openSmtpClient(port('SMTP_PORT'), ca));
  const imap = of('mail').map(({ port }) => openImapClient(port('IMAPS_PORT'), ca, appendTo));
  const operations: Operation[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let skipped = 0;
  let number = 0;

  function tryOf(kind: OperationKind, n: number, mark: string): [bytes: number, (turn: number) => Promise<TryOutcome>] {
    const mailbox = kind === 'append' ? appendTo : inTurn(mailboxes, n);
    if (kind === 'mailbox') return [0, (turn) => inTurn(rest, turn).createMailbox(mark)];
    if (kind === 'send')
      return [0, (turn) => inTurn(rest, turn).sendMessage(mailbox.id, `customer-${n % CUSTOMERS}@customer.test`, mark)];
    const message = loadMessage(mark, mailbox.address, n % LARGE_EVERY === 0 ? LARGE_BYTES : SMALL_BYTES);
    if (kind === 'append') return [message.length, (turn) => inTurn(imap, turn).append(message)];
    return [message.length, (turn) => inTurn(smtp, turn).send(SENDER, mailbox.address, message)];
  }

  async function carryOut(operation: Operation, once: (turn: number) => Promise<TryOutcome>, first: number) {
    for (let turn = first; !stopping.signal.aborted; turn++) {
      operation.tries++;
      const outcome = await once(turn);
      operation.lastTry = 'by' in outcome ? `${outcome.kind} ${outcome.by}` : outcome.kind;
      if (outcome.kind === 'accepted') {
        operation.tokenMissing = outcome.tokenMissing ?? false;
        operation.acceptedAtMs = Date.now();
        return;
      }
      if (outcome.kind === 'refused') {
        operation.refused = outcome.by;
        return;
      }
      if (outcome.kind === 'uncertain') operation.uncertain++;
      const isDeferred = outcome.kind === 'deferred';
      if (isDeferred) operation.deferrals.set(outcome.by, (operation.deferrals.get(outcome.by) ?? 0) + 1);
      const waitMs = (isDeferred ? outcome.afterMs : undefined) ?? RETRY_AFTER_MS;
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  function begin(): void {
    const n = number++;
    if (running.size >= OPEN_MAX) {
      skipped++;
      return;
    }
    const kind = inTurn(MIX, n);
    const mark = `load-${kind}-${n}-`;
    const [bytes, once] = tryOf(kind, n, mark);
    const operation = newOperation(kind, mark, bytes);
    operations.push(operation);
    // Beyond the length of the mix, so that each kind begins at both copies.
    const own = carryOut(operation, once, Math.floor(n / MIX.length) + n).finally(() => running.delete(own));
    running.add(own);
  }

  const timer = setInterval(begin, 1_000 / perSecond);
  return {
    beganMs: Date.now(),
    operations,
    get skipped() {
      return skipped;
    },
    async finish(withinMs) {
      clearInterval(timer);
      await Promise.race([Promise.all(running), delay(withinMs)]);
    },
    async close() {
      clearInterval(timer);
      stopping.abort();
      for (const client of [...smtp, ...imap]) client.close();
      await Promise.all(rest.map((client) => client.close()));
    },
  };
}
