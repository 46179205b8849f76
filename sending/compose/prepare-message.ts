/**
 * The bytes of a submitted message as sent (RFC 6409 §8): line ends CRLF, no Bcc, no trace fields of an earlier path,
 * Date and Message-ID present, and written by the mailbox that submits it.
 */
import { randomUUID } from 'node:crypto';
import { parseAddresses } from '@agent-mailbox/mime-structure/addresses';
import {
  findBodyStart,
  firstValue,
  type HeaderField,
  headerFields,
  repeatedFields,
} from '@agent-mailbox/mime-structure/header-fields';
import { CatalogueError } from '#domain/errors.ts';
import { HEADER_BLOCK_MAX_BYTES, MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { isOneOf } from '#domain/mail/mailbox-address.ts';
import { mailDate } from '#domain/mail/text-forms.ts';
import { hashMessage, type MessageHash } from '#mime/content-hash.ts';

export interface PreparedMessage {
  readonly bytes: Buffer;
  /** With its brackets. */
  readonly messageId: string;
  readonly hash: MessageHash;
}

/** Authentication-Results too: local receivers would take them for ours (RFC 8601 §5). */
const REMOVED = new Set(['bcc', 'resent-bcc', 'return-path', 'authentication-results']);

/** Given several times, they are one list (RFC 5322 §4.5.3). */
const DESTINATIONS = new Set(['to', 'cc']);
/** Without control characters: the database refuses NUL. */
const MESSAGE_ID = /<[^<>\s\p{Cc}]{1,998}>/u;

const refused = (message: string, path = '/from') =>
  new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });

/**
 * @param sender address of the mailbox that submits
 * @param own it writes as these: that address and its aliases
 * @throws {CatalogueError} payload_too_large; invalid_request when an originator is somebody else, or when a field is
 *   there twice: a person who approves the message and its recipients may see different ones
 */
export function prepareMessage(
  given: Uint8Array,
  sender: string,
  now: Date,
  own: readonly string[] = [sender.toLowerCase()],
): PreparedMessage {
  const bytes = withCrlf(given);
  const bodyStart = findBodyStart(bytes, 0, bytes.length);
  // Later fields are not read: a Bcc there would be sent, a second From would be accepted.
  if (bodyStart > HEADER_BLOCK_MAX_BYTES)
    throw new CatalogueError('payload_too_large', `A message has at most ${HEADER_BLOCK_MAX_BYTES} bytes of header.`);
  const fields = headerFields(bytes, 0, bodyStart);
  requireOwnAddress(fields, sender, own);
  const repeated = repeatedFields(fields).find((name) => !DESTINATIONS.has(name));
  if (repeated !== undefined) throw refused(`The message has more than one ${repeated} field: keep one`, '/headers');
  const added: string[] = [];
  if (!firstValue(fields, 'date')) added.push(`Date: ${mailDate(now)}\r\n`);
  let messageId = MESSAGE_ID.exec(firstValue(fields, 'message-id') ?? '')?.[0];
  const dropped = fields.filter(
    ({ name }) =>
      REMOVED.has(name) || (name === 'message-id' && messageId === undefined) || (name === 'date' && added.length > 0),
  );
  if (messageId === undefined) {
    messageId = `<${randomUUID()}@${sender.slice(sender.lastIndexOf('@') + 1)}>`;
    added.push(`Message-ID: ${messageId}\r\n`);
  }
  // Most messages need no change: large ones are not copied then.
  const prepared = added.length === 0 && dropped.length === 0 ? bytes : changed(bytes, added.join(''), dropped);
  if (prepared.length > MESSAGE_MAX_BYTES)
    throw new CatalogueError('payload_too_large', `A message has at most ${MESSAGE_MAX_BYTES} bytes.`);
  return { bytes: prepared, messageId, hash: hashMessage(prepared) };
}

/** The message with fields at its beginning, and without others. */
function changed(bytes: Buffer, added: string, dropped: readonly HeaderField[]): Buffer {
  const kept: Uint8Array[] = [Buffer.from(added, 'latin1')];
  let at = 0;
  for (const { start, end } of dropped) {
    kept.push(bytes.subarray(at, start));
    at = end;
  }
  kept.push(bytes.subarray(at));
  return Buffer.concat(kept);
}

/** Fields that say who sent, resent or wrote a message (RFC 5322 §3.6.2, §3.6.6, RFC 9057): readers show them as fact. */
const MORE_ORIGINATORS: Readonly<Record<string, string>> = {
  sender: 'Sender',
  'resent-from': 'Resent-From',
  'resent-sender': 'Resent-Sender',
  author: 'Author',
};

/** From is one address of the mailbox (a plus-tag is allowed), or Sender is; nobody else is named as an originator. */
function requireOwnAddress(fields: readonly HeaderField[], sender: string, all: readonly string[]): void {
  const own = ({ value }: HeaderField): boolean => {
    const [address, ...others] = parseAddresses(value);
    if (address?.kind !== 'address' || others.length > 0) return false;
    return isOneOf(all, `${address.local}@${address.host}`);
  };
  const [from, ...more] = fields.filter(({ name }) => name === 'from');
  if (from === undefined) throw refused(`The message has no From field: add "From: ${sender}"`);
  if (more.length > 0) throw refused(`The message has ${more.length + 1} From fields: keep one, "From: ${sender}"`);
  if (!own(from) && !fields.some((field) => field.name === 'sender' && own(field)))
    throw refused(
      `From is "${excerpt(from.value)}", but this mailbox sends as ${sender}: set From to ${sender} (a plus-tag is allowed), or add "Sender: ${sender}" if From is an address of another domain`,
    );
  for (const field of fields) {
    const shown = MORE_ORIGINATORS[field.name];
    if (shown !== undefined && !own(field))
      throw refused(
        `${shown} is "${excerpt(field.value)}", but this mailbox sends as ${sender}: remove the field or set it to ${sender}`,
        '/headers',
      );
  }
}

const EXCERPT_MAX_CHARACTERS = 80;

/** Of a header value, as an answer may show it: one line of ASCII. */
const excerpt = (value: string): string => {
  const shown = value.replace(/[^ -~]+/g, '?');
  return shown.length > EXCERPT_MAX_CHARACTERS ? `${shown.slice(0, EXCERPT_MAX_CHARACTERS)}...` : shown;
};

const CR = 0x0d;
const LF = 0x0a;

/** The message with this Date instead of the one it has. */
export function withDate(given: Uint8Array, date: Date): Buffer {
  const fields = headerFields(given, 0, findBodyStart(given, 0, given.length));
  const kept: Uint8Array[] = [Buffer.from(`Date: ${mailDate(date)}\r\n`, 'latin1')];
  let at = 0;
  for (const { name, start, end } of fields)
    if (name === 'date') {
      kept.push(given.subarray(at, start));
      at = end;
    }
  kept.push(given.subarray(at));
  return Buffer.concat(kept);
}

/** Bare CR and bare LF become CRLF: the message must not contain anything that another host takes for its end. */
function withCrlf(given: Uint8Array): Buffer {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  let bare = 0;
  for (let i = 0; i < bytes.length; i++)
    if ((bytes[i] === LF && bytes[i - 1] !== CR) || (bytes[i] === CR && bytes[i + 1] !== LF)) bare++;
  if (bare === 0) return bytes;
  const fixed = Buffer.allocUnsafe(bytes.length + bare);
  let to = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === LF && bytes[i - 1] !== CR) fixed[to++] = CR;
    fixed[to++] = byte;
    if (byte === CR && bytes[i + 1] !== LF) fixed[to++] = LF;
  }
  return fixed;
}
