/** What a reader of a source gives, whatever its format. */
import type { SpecialUse } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS, type MailFlag } from '#domain/mail/mail-flags.ts';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';

export interface MovedMessage {
  readonly kind: 'message';
  /** Unicode, `/` between levels. */
  readonly folder: string;
  /** For people: file and place in it. */
  readonly where: string;
  readonly bytes: Buffer;
  /** Bits of `MAIL_FLAGS`. */
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly date: Date;
  readonly offsetMinutes: number;
  /** Of our own archive. */
  readonly more?: {
    readonly receivedAt: Date;
    readonly envelopeFrom: string | null;
    readonly deliveredTo: string | null;
    readonly thread: string;
  };
  /** Recognizes it in its source without its content. */
  readonly mark?: Buffer;
}

export interface MovedFolder {
  readonly kind: 'folder';
  readonly name: string;
  readonly specialUse?: SpecialUse | undefined;
  readonly subscribed?: boolean | undefined;
}

/** Something that an operator must look at: what was not imported, or is not as it was. */
export interface Problem {
  readonly kind: 'problem';
  readonly where: string;
  readonly problem: string;
}

/** Was recognized in the source, and not read. */
export interface KnownMessage {
  readonly kind: 'known';
}

export type SourceItem = MovedMessage | MovedFolder | Problem | KnownMessage;
export type Source = AsyncIterable<SourceItem>;

export const problem = (where: string, text: string): Problem => ({ kind: 'problem', where, problem: text });

export const tooBig = (where: string, size: number): Problem =>
  problem(where, `has ${size} bytes; a message has at most ${MESSAGE_MAX_BYTES}: not imported`);

/** Letters of a format as bits; `letters` in its order. */
export const flagsOf = (text: string, letters: Readonly<Record<string, MailFlag>>): number =>
  Object.entries(letters).reduce((bits, [letter, flag]) => (text.includes(letter) ? bits | MAIL_FLAGS[flag] : bits), 0);

export const lettersOf = (flags: number, letters: Readonly<Record<string, MailFlag>>): string =>
  Object.entries(letters)
    .filter(([, flag]) => (flags & MAIL_FLAGS[flag]) !== 0)
    .map(([letter]) => letter)
    .join('');

/** Mail has CRLF; files of most programs have LF. */
export function withCrlf(bytes: Buffer): Buffer {
  let bare = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1))
    if (at === 0 || bytes[at - 1] !== 13) bare++;
  if (bare === 0) return bytes;
  const whole = Buffer.allocUnsafe(bytes.length + bare);
  let [from, to] = [0, 0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (at > 0 && bytes[at - 1] === 13) continue;
    to += bytes.copy(whole, to, from, at);
    to += whole.write('\r\n', to, 'latin1');
    from = at + 1;
  }
  bytes.copy(whole, to, from);
  return whole;
}

/** Each LF as CRLF: the reverse of `withLf`. */
export function allLfAsCrlf(bytes: Buffer): Buffer {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  const whole = Buffer.allocUnsafe(bytes.length + lines);
  let [from, to] = [0, 0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
    to += bytes.copy(whole, to, from, at);
    whole[to++] = 13;
    whole[to++] = 10;
    from = at + 1;
  }
  bytes.copy(whole, to, from);
  return whole;
}

/** CRLF as LF, if each LF follows a CR; otherwise undefined, because it could not be turned back. */
export function withLf(bytes: Buffer): Buffer | undefined {
  const whole = Buffer.allocUnsafe(bytes.length);
  let [from, to] = [0, 0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (at === 0 || bytes[at - 1] !== 13) return undefined;
    to += bytes.copy(whole, to, from, at - 1);
    whole[to++] = 10;
    from = at + 1;
  }
  to += bytes.copy(whole, to, from);
  return whole.subarray(0, to);
}
