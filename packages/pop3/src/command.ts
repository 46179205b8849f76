/** The form of a POP3 command file. */
import type { LoginResult } from '@agent-mailbox/mail-store';
import type { Maildrop, MaildropStore } from './maildrop.ts';

/** RFC 1939 §3. The UPDATE state is the run of QUIT. */
export type Pop3State = 'authorization' | 'transaction';

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
export const transactionCommand = (
  verb: string,
  run: (maildrop: Maildrop, argument: string) => Reply | Promise<Reply>,
): Pop3Command => ({
  verb,
  states: ['transaction'],
  run: ({ maildrop }, argument) => (maildrop === undefined ? bad('Log in first') : run(maildrop, argument)),
});

/** @returns undefined: not a number a message could have */
export const messageNumber = (text: string): number | undefined =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/** Why there is no message of this number. */
export const noMessage = (maildrop: Maildrop, number: number): Reply =>
  refused(maildrop.isDeleted(number) ? `Message ${number} is deleted` : `There is no message ${number}`);
