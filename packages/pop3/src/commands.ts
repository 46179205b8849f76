/**
 * The commands of POP3 (RFC 1939, 2449, 2595, 5034, 6856).
 *
 *     authorization    CAPA STLS USER PASS AUTH UTF8 QUIT
 *     transaction      CAPA STAT LIST UIDL RETR TOP DELE RSET NOOP QUIT
 *
 * A command gets its session and its argument, and returns a reply; the connection sends it.
 */
import type { LoginResult } from '@agent-mailbox/mail-store';
import { BEARER_FAILURE, readPlain, readXoauth2, type SaslCredentials } from '@agent-mailbox/mail-store/sasl';
import type { Maildrop, MaildropMessage, MaildropStore } from './maildrop.ts';

/** RFC 1939 §3. The UPDATE state is the run of QUIT. */
type Pop3State = 'authorization' | 'transaction';

/** Extended response codes (RFC 2449 §8, RFC 3206). */
export const RESPONSE_CODES = ['AUTH', 'SYS/TEMP', 'IN-USE'] as const;
type ResponseCode = (typeof RESPONSE_CODES)[number];

export type Reply =
  | {
      readonly kind: 'ok';
      readonly text: string;
      /** A multi-line answer of lines, or of a message's bytes. */
      readonly lines?: Iterable<string>;
      readonly content?: AsyncIterable<Uint8Array>;
      readonly then?: 'start-tls' | 'end';
    }
  | { readonly kind: 'error'; readonly text: string; readonly code?: ResponseCode; readonly then?: 'end' }
  /** The command makes no sense here; a connection may send a few of these only. */
  | { readonly kind: 'bad'; readonly text: string };

type OkReply = Extract<Reply, { kind: 'ok' }>;
type ErrorReply = Extract<Reply, { kind: 'error' }>;

export const ok = (text: string, more: Omit<OkReply, 'kind' | 'text'> = {}): Reply => ({ kind: 'ok', text, ...more });
export const refused = (text: string, more: Omit<ErrorReply, 'kind' | 'text'> = {}): Reply => ({
  kind: 'error',
  text,
  ...more,
});
export const bad = (text: string): Reply => ({ kind: 'bad', text });

/** Login as this engine needs it; the store may have more to it. */
export type Pop3Login = (attempt: {
  readonly protocol: 'pop3';
  readonly address: string;
  readonly token: string;
  readonly remoteAddress: string;
}) => Promise<
  | (Omit<Extract<LoginResult, { kind: 'ok' }>, 'store'> & { readonly store: MaildropStore })
  | Exclude<LoginResult, { kind: 'ok' }>
>;

/** The parts of the connection that a command uses. */
export interface Pop3Session {
  /** What the server calls itself; undefined: it does not. */
  readonly serverName: string | undefined;
  readonly secure: boolean;
  readonly canStartTls: boolean;
  /** Given by USER, until PASS. */
  user: string | undefined;
  /** Of the login; undefined before it. */
  readonly maildrop: Maildrop | undefined;
  /** Sends a SASL challenge. @returns the client's line; undefined: it is too long, or the client has disconnected */
  challenge(text: string): Promise<string | undefined>;
  login(address: string, token: string): Promise<Reply>;
}

export interface Pop3Command {
  /** Upper case. */
  readonly verb: string;
  readonly states: readonly Pop3State[];
  run(session: Pop3Session, argument: string): Reply | Promise<Reply>;
}

/** A command of the transaction state, which has a maildrop. */
const transactionCommand = (
  verb: string,
  run: (maildrop: Maildrop, argument: string) => Reply | Promise<Reply>,
): Pop3Command => ({
  verb,
  states: ['transaction'],
  run: ({ maildrop }, argument) => (maildrop === undefined ? bad('Log in first') : run(maildrop, argument)),
});

/** @returns undefined: not a number a message could have */
const messageNumber = (text: string): number | undefined => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined);

/** Why there is no message of this number. */
const noMessage = (maildrop: Maildrop, number: number): Reply =>
  refused(maildrop.isDeleted(number) ? `Message ${number} is deleted` : `There is no message ${number}`);

/** Credentials are never accepted without TLS. */
const IN_CLEAR = refused('Use STLS first: the token must not be sent without TLS');

const SASL_READERS: Readonly<Record<string, (answer: string) => SaslCredentials | undefined>> = {
  PLAIN: readPlain,
  XOAUTH2: readXoauth2,
};
const SASL_MECHANISMS = Object.keys(SASL_READERS);

/** RFC 2449 §5. Secrets only under TLS: USER and SASL are announced there alone, STLS before it. */
const capa: Pop3Command = {
  verb: 'CAPA',
  states: ['authorization', 'transaction'],
  run: ({ secure, canStartTls, serverName }) =>
    ok('Capabilities follow', {
      lines: [
        'TOP',
        'UIDL',
        'RESP-CODES',
        'AUTH-RESP-CODE',
        'PIPELINING',
        ...(secure ? ['USER', `SASL ${SASL_MECHANISMS.join(' ')}`] : []),
        ...(canStartTls ? ['STLS'] : []),
        'EXPIRE NEVER',
        'UTF8',
        ...(serverName === undefined ? [] : [`IMPLEMENTATION ${serverName.replaceAll(' ', '-')}`]),
      ],
    }),
};

/** RFC 2595 §4. The state of the client before it is discarded. */
const stls: Pop3Command = {
  verb: 'STLS',
  states: ['authorization'],
  run(session, argument) {
    if (argument !== '') return bad('STLS takes no argument');
    if (!session.canStartTls) return bad(session.secure ? 'TLS is active already' : 'TLS is not available here');
    return ok('Begin TLS', { then: 'start-tls' });
  },
};

/** RFC 1939 §7. Any name is accepted: the answer must not reveal which mailboxes exist. */
const user: Pop3Command = {
  verb: 'USER',
  states: ['authorization'],
  run(session, argument) {
    if (!session.secure) return IN_CLEAR;
    if (argument === '') return bad('USER takes the address of the mailbox');
    session.user = argument;
    return ok('Send the token with PASS');
  },
};

/** RFC 1939 §7. The argument is everything after the first space. */
const pass: Pop3Command = {
  verb: 'PASS',
  states: ['authorization'],
  async run(session, argument) {
    if (!session.secure) return IN_CLEAR;
    const address = session.user;
    if (address === undefined) return bad('Send USER first');
    session.user = undefined;
    return session.login(address, argument);
  },
};

/** RFC 5034: `AUTH mechanism [initial-response]`, where `=` is an empty response and `*` cancels. */
const auth: Pop3Command = {
  verb: 'AUTH',
  states: ['authorization'],
  async run(session, argument) {
    if (!session.secure) return IN_CLEAR;
    const [mechanism = '', initial, more] = argument.split(' ');
    const read = SASL_READERS[mechanism.toUpperCase()];
    if (read === undefined || more !== undefined) return bad(`AUTH takes one of ${SASL_MECHANISMS.join(', ')}`);
    const answer = initial ?? (await session.challenge(''));
    if (answer === undefined) return bad('The answer is too long');
    if (answer === '*') return refused('Given up');
    const credentials = read(answer === '=' ? '' : answer);
    if (credentials === undefined) return bad('The answer is not valid for the mechanism');
    const reply = await session.login(credentials.address, credentials.token);
    // The client answers the failure's reason with an empty line.
    if (read === readXoauth2 && reply.kind === 'error' && reply.code === 'AUTH')
      await session.challenge(BEARER_FAILURE);
    return reply;
  },
};

/** RFC 6856 §2. Messages are sent as they are stored, so no mode changes. */
const utf8: Pop3Command = {
  verb: 'UTF8',
  states: ['authorization'],
  run: (_session, argument) => (argument === '' ? ok('UTF-8 is enabled') : bad('UTF8 takes no argument')),
};

/** RFC 1939 §5. */
const stat = transactionCommand('STAT', (maildrop) => {
  const { count, bytes } = maildrop.totals();
  return ok(`${count} ${bytes}`);
});

/** A line for each message, or for the one named (LIST, UIDL). */
const listing = (verb: string, what: string, value: (message: MaildropMessage) => string | number) => {
  const line = (message: MaildropMessage) => `${message.number} ${value(message)}`;
  function* lines(maildrop: Maildrop): Generator<string> {
    for (const message of maildrop.messages()) yield line(message);
  }
  return transactionCommand(verb, (maildrop, argument) => {
    if (argument === '') return ok(`${what} follow`, { lines: lines(maildrop) });
    const number = messageNumber(argument);
    if (number === undefined) return bad(`${verb} takes the number of a message, or nothing`);
    const message = maildrop.message(number);
    return message === undefined ? noMessage(maildrop, number) : ok(line(message));
  });
};

/** RFC 1939 §5: sizes in octets as sent. */
const list = listing('LIST', 'Sizes', ({ size }) => size);

/** RFC 1939 §7. */
const uidl = listing('UIDL', 'Unique ids', ({ uniqueId }) => uniqueId);

/** @param content what is sent of the bytes of the message */
async function contentOf(
  maildrop: Maildrop,
  number: number,
  text: (message: MaildropMessage) => string,
  content: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Promise<Reply> {
  const message = maildrop.message(number);
  if (message === undefined) return noMessage(maildrop, number);
  const bytes = await maildrop.read(message);
  return bytes === undefined
    ? refused(`Message ${number} has been removed meanwhile`)
    : ok(text(message), { content: content(bytes) });
}

/** RFC 1939 §5. */
const retr = transactionCommand('RETR', (maildrop, argument) => {
  const number = messageNumber(argument);
  if (number === undefined) return bad('RETR takes the number of a message');
  return contentOf(
    maildrop,
    number,
    ({ size }) => `${size} octets`,
    (bytes) => bytes,
  );
});

/** RFC 1939 §7: header, the blank line, and the given number of lines of the body. */
const top = transactionCommand('TOP', (maildrop, argument) => {
  const [first = '', second = '', more] = argument.split(/ +/);
  const number = messageNumber(first);
  if (number === undefined || !/^\d{1,9}$/.test(second) || more !== undefined)
    return bad('TOP takes the number of a message and a number of lines');
  return contentOf(
    maildrop,
    number,
    () => 'Top of the message follows',
    (bytes) => topOf(bytes, Number(second)),
  );
});

const LF = 0x0a;
const CR = 0x0d;

/**
 * The beginning of a message.
 *
 * @param bodyLines 0: ends after the blank line
 */
async function* topOf(content: AsyncIterable<Uint8Array>, bodyLines: number): AsyncGenerator<Uint8Array> {
  let inBody = false;
  let left = bodyLines;
  let lineIsEmpty = true;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === CR) continue;
      if (byte !== LF) {
        lineIsEmpty = false;
        continue;
      }
      if (inBody) left--;
      else if (lineIsEmpty) inBody = true;
      lineIsEmpty = true;
      if (inBody && left === 0) {
        yield chunk.subarray(0, at + 1);
        return;
      }
    }
    yield chunk;
  }
}

/** RFC 1939 §5: a mark, which QUIT carries out. */
const dele = transactionCommand('DELE', (maildrop, argument) => {
  const number = messageNumber(argument);
  if (number === undefined) return bad('DELE takes the number of a message');
  if (maildrop.message(number) === undefined) return noMessage(maildrop, number);
  if (maildrop.readOnly) return refused('This token may only read');
  maildrop.markDeleted(number);
  return ok(`Message ${number} will be deleted at QUIT`);
});

/** RFC 1939 §5. */
const rset = transactionCommand('RSET', (maildrop) => {
  maildrop.unmarkAll();
  const { count, bytes } = maildrop.totals();
  return ok(`${count} messages (${bytes} octets)`);
});

/** RFC 1939 §5. */
const noop = transactionCommand('NOOP', () => ok('Still here'));

/** RFC 1939 §4 and §6: in the transaction state it deletes the marked messages. If it fails, nothing is deleted. */
const quit: Pop3Command = {
  verb: 'QUIT',
  states: ['authorization', 'transaction'],
  async run({ maildrop }) {
    const deleted = (await maildrop?.commit()) ?? 0;
    return ok(deleted > 0 ? `Bye, ${deleted} deleted` : 'Bye', { then: 'end' });
  },
};

/** All commands by verb. */
export const pop3Commands: ReadonlyMap<string, Pop3Command> = new Map(
  [capa, stls, user, pass, auth, utf8, stat, list, uidl, retr, top, dele, rset, noop, quit].map((command) => [
    command.verb,
    command,
  ]),
);
