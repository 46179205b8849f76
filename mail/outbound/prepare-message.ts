/**
 * The bytes of a submitted message as they leave (RFC 6409 §8): line ends CRLF, no Bcc, no trace of an earlier way,
 * Date and Message-ID present, and written by the mailbox that submits it.
 */
import { randomUUID } from 'node:crypto';
import { CatalogueError } from '../../domain/errors.ts';
import { HEADER_BLOCK_MAX_BYTES, MESSAGE_MAX_BYTES } from '../../domain/mail-limits.ts';
import { deliveryAddress } from '../../domain/mailbox-address.ts';
import { parseAddresses } from '../mime/addresses.ts';
import { findBodyStart, firstValue, type HeaderField, headerFields } from '../mime/header-fields.ts';
import { mailDate } from '../mime/mail-date.ts';

export interface PreparedMessage {
  readonly bytes: Buffer;
  /** With its brackets. */
  readonly messageId: string;
}

/** Authentication-Results too: whoever receives the message here would take them for ours (RFC 8601 §5). */
const REMOVED = new Set(['bcc', 'resent-bcc', 'return-path', 'authentication-results']);

/** Without control characters: the database refuses NUL. */
const MESSAGE_ID = /<[^<>\s\p{Cc}]{1,998}>/u;

const refused = (message: string) =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: '/from', message }] });

/**
 * @param sender address of the mailbox that submits
 * @throws {CatalogueError} payload_too_large; invalid_request when From or Sender is somebody else
 */
export function prepareMessage(given: Uint8Array, sender: string, now: Date): PreparedMessage {
  const bytes = withCrlf(given);
  const bodyStart = findBodyStart(bytes, 0, bytes.length);
  // What lies beyond is not read: a Bcc there would leave, a second From would pass.
  if (bodyStart > HEADER_BLOCK_MAX_BYTES)
    throw new CatalogueError('payload_too_large', `A message has at most ${HEADER_BLOCK_MAX_BYTES} bytes of header.`);
  const fields = headerFields(bytes, 0, bodyStart);
  requireOwnAddress(fields, sender);
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
  const kept: Uint8Array[] = [Buffer.from(added.join(''), 'latin1')];
  let at = 0;
  for (const { start, end } of dropped) {
    kept.push(bytes.subarray(at, start));
    at = end;
  }
  kept.push(bytes.subarray(at));
  const prepared = Buffer.concat(kept);
  if (prepared.length > MESSAGE_MAX_BYTES)
    throw new CatalogueError('payload_too_large', `A message has at most ${MESSAGE_MAX_BYTES} bytes.`);
  return { bytes: prepared, messageId };
}

/** From is one address of the mailbox (a plus-tag may stand in it), or Sender is. */
function requireOwnAddress(fields: readonly HeaderField[], sender: string): void {
  const own = (name: string): boolean => {
    const found = fields.filter((field) => field.name === name);
    const [only] = parseAddresses(found[0]?.value ?? '');
    if (found.length !== 1 || only?.kind !== 'address') return false;
    return (
      parseAddresses(found[0]?.value ?? '').length === 1 &&
      deliveryAddress(`${only.local}@${only.host}`) === sender.toLowerCase()
    );
  };
  if (fields.filter(({ name }) => name === 'from').length !== 1) throw refused('there must be exactly one From');
  if (!own('from') && !own('sender')) throw refused(`From must be ${sender}, the address of the mailbox`);
}

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

/** Bare CR and bare LF become CRLF: what another host takes for the end of a message must not stand inside it. */
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
