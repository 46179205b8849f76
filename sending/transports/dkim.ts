/**
 * DKIM signatures (RFC 6376) with the key of the sender's domain. A customer's domain has its key from the start; the
 * instance's own gets one at its first mail.
 *
 * Each field that may occur once is named once more than it occurs, so that nobody can add another one in front of it
 * (RFC 6376 §8.15). Only Sender is not, if there is none: mailing lists add it.
 *
 * Hosts that do not announce SMTPUTF8 (RFC 6531 §3.1) get the message with a header without UTF-8: text becomes encoded words
 * (RFC 2047); an address with characters beyond ASCII in front of its `@` becomes a group without members, whose name shows
 * it (RFC 6857 §3.1.8). The body does not change.
 */
import { createHash, sign } from 'node:crypto';
import {
  addressesOfText,
  formatAddress,
  type MailAddress,
  readableAddresses,
} from '@agent-mailbox/mime-structure/addresses';
import { decodeRawHeader } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import {
  findBodyStart,
  type HeaderField,
  headerFields,
  SINGLE_FIELDS,
} from '@agent-mailbox/mime-structure/header-fields';
import { encodeWords } from 'nodemailer/lib/mime-funcs';
import { instanceDkimKey } from '#core/mailboxes/domain-records.ts';
import { dkimKeyPlace } from '#core/mailboxes/domains.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import {
  type OutboundMessage,
  readContent,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';

interface DkimKey {
  readonly selector: string;
  readonly privateKey: string;
}

/** Whose mail it is: the domain says with which key. */
interface Signer {
  readonly organization: Pick<Sender['organization'], 'id'>;
  readonly mailbox: Pick<Sender['mailbox'], 'domain'>;
}

async function keyOf(services: SendingServices, { organization, mailbox }: Signer): Promise<DkimKey | undefined> {
  const { db, secrets, settings } = services;
  if (mailbox.domain.toLowerCase() === settings.MAIL_DOMAIN.toLowerCase()) return instanceDkimKey(services);
  const [row] = await db.query<{ id: string; dkim_selector: string; dkim_private_key_sealed: string }>(
    `select id, dkim_selector, dkim_private_key_sealed from domains
      where organization_id = $1 and name = $2 and status = 'verified'`,
    [organization.id, mailbox.domain.toLowerCase()],
  );
  if (row === undefined) return undefined;
  return { selector: row.dkim_selector, privateKey: secrets.open(row.dkim_private_key_sealed, dkimKeyPlace(row.id)) };
}

/** DKIM-Signature field with its line break; empty for a domain without a verified key. */
export async function signMessage(services: SendingServices, sender: Signer, bytes: Buffer): Promise<string> {
  const key = await keyOf(services, sender);
  return key === undefined ? '' : signatureField(bytes, sender.mailbox.domain, key, new Date(services.now()));
}

/**
 * Of mail of an alias in another domain than its mailbox: that domain, if the organization has it, so that the signature is
 * the author's (RFC 7489 §3.1.1).
 */
async function signerOf(
  services: SendingServices,
  { organization, mailbox }: Sender,
  { from }: OutboundMessage,
): Promise<Signer> {
  const domain = domainOf(addressesOfText(from)[0]?.address ?? mailbox.address);
  const ofAuthor = { organization, mailbox: { domain } };
  const isOther = domain !== mailbox.domain.toLowerCase();
  return isOther && (await keyOf(services, ofAuthor)) !== undefined ? ofAuthor : { organization, mailbox };
}

/** Signed where they are there, each of them. */
const OTHER_FIELDS = [
  'content-id',
  'content-description',
  'resent-date',
  'resent-from',
  'resent-sender',
  'resent-to',
  'resent-cc',
  'resent-message-id',
  'list-id',
  'list-help',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-subscribe',
  'list-post',
  'list-owner',
  'list-archive',
];

/**
 * The field that signs a message, with its line break.
 *
 * @param bytes with CRLF as line end
 * @param key RSA, PEM
 */
export function signatureField(bytes: Buffer, domain: string, { selector, privateKey }: DkimKey, at: Date): string {
  const bodyStart = findBodyStart(bytes, 0, bytes.length);
  const fields = headerFields(bytes, 0, bodyStart);
  const names = [...SINGLE_FIELDS, ...OTHER_FIELDS].flatMap((name) => {
    const there = fields.filter((field) => field.name === name).length;
    const more = SINGLE_FIELDS.includes(name) && (name !== 'sender' || there > 0) ? 1 : 0;
    return Array.from({ length: there + more }, () => name);
  });
  const unsigned = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${withAsciiDomain(domain)};`,
    ` s=${selector}; t=${Math.floor(at.getTime() / 1_000)};`,
    ...folded(`h=${names.join(':')};`, ':'),
    ` bh=${bodyHash(bytes.subarray(bodyStart))};`,
    ' b=',
  ].join('\r\n');
  const signed = Buffer.from([...lastFirst(bytes, fields, names), relaxed(unsigned)].join(''), 'latin1');
  return `${unsigned}${folded(sign('sha256', signed, privateKey).toString('base64'), '')
    .join('\r\n')
    .trimStart()}\r\n`;
}

/** Of several fields of a name the last one is signed first; of those that are not there, nothing (RFC 6376 §5.4.2). */
function* lastFirst(bytes: Buffer, fields: readonly HeaderField[], names: readonly string[]): Generator<string> {
  const left = new Map([...Map.groupBy(fields, ({ name }) => name)].map(([name, group]) => [name, [...group]]));
  for (const name of names) {
    const field = left.get(name)?.pop();
    if (field !== undefined) yield `${relaxed(bytes.toString('latin1', field.start, field.end))}\r\n`;
  }
}

/** A field in the canonical form `relaxed` (RFC 6376 §3.4.2), one character per byte. */
function relaxed(field: string): string {
  const colon = field.indexOf(':');
  const value = field.slice(colon + 1).replaceAll('\r\n', '');
  return `${field.slice(0, colon).toLowerCase().trim()}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}`;
}

/** SHA-256 of the body in the canonical form `relaxed` (RFC 6376 §3.4.4), base64. */
function bodyHash(body: Buffer): string {
  const lines = body
    .toString('latin1')
    .replace(/[ \t]+/g, ' ')
    .replaceAll(' \r\n', '\r\n');
  let end = lines.endsWith(' ') ? lines.length - 1 : lines.length;
  while (end >= 2 && lines.startsWith('\r\n', end - 2)) end -= 2;
  const kept = lines.slice(0, end);
  return createHash('sha256')
    .update(Buffer.from(kept === '' ? '' : `${kept}\r\n`, 'latin1'))
    .digest('base64');
}

const LINE_CHARACTERS = 72;

/** Continuation lines, broken behind a character; empty: anywhere. */
function folded(text: string, behind: string): string[] {
  const pieces =
    behind === ''
      ? [...text]
      : text.split(behind).map((piece, i, all) => (i < all.length - 1 ? `${piece}${behind}` : piece));
  const lines: string[] = [];
  for (const piece of pieces) {
    const line = lines.at(-1);
    if (line === undefined || line.length + piece.length > LINE_CHARACTERS) lines.push(` ${piece}`);
    else lines[lines.length - 1] = `${line}${piece}`;
  }
  return lines;
}

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
        return Buffer.concat([
          Buffer.from(await signMessage(services, await signerOf(services, sender, message), ascii)),
          ascii,
        ]);
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
  const made = await signMessage(services, await signerOf(services, sender, message), bytes);
  const [row] = await services.db.query<{ signature: string }>(
    `update outbound_message set dkim_signature = coalesce(dkim_signature, $2) where id = $1
     returning dkim_signature as signature`,
    [message.id, made],
  );
  return row?.signature ?? made;
}

export const hasAsciiHeader = (bytes: Buffer): boolean =>
  bytes.subarray(0, findBodyStart(bytes, 0, bytes.length)).every((byte) => byte < 0x80);

export function withAsciiHeader(bytes: Buffer): Buffer {
  const kept: Buffer[] = [];
  let at = 0;
  for (const field of headerFields(bytes, 0, findBodyStart(bytes, 0, bytes.length))) {
    if (isAscii(field.value)) continue;
    const name = bytes.toString('latin1', field.start, field.start + field.name.length);
    kept.push(bytes.subarray(at, field.start), Buffer.from(`${name}: ${asciiValue(field)}\r\n`, 'latin1'));
    at = field.end;
  }
  kept.push(bytes.subarray(at));
  return Buffer.concat(kept);
}

const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

const ADDRESS_FIELDS = /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$/;
/** With parameters or ids, in which only pieces can be encoded. */
const STRUCTURED_FIELDS = /^(?:content-(?!description)[a-z-]+|(?:resent-)?message-id|in-reply-to|references|received)$/;
/** Of an encoded word, with its marks (RFC 2047 §2). */
const WORD_MAX_CHARACTERS = 52;

function asciiValue({ name, value }: HeaderField): string {
  if (ADDRESS_FIELDS.test(name)) return readableAddresses(value).map(asciiAddress).join(',\r\n ');
  if (STRUCTURED_FIELDS.test(name)) return value.replace(/[^\x00-\x7f]+/g, (raw) => encoded(decodeRawHeader(raw)));
  return encoded(decodeWords(value));
}

/** Lines are broken between encoded words. */
const encoded = (text: string): string =>
  encodeWords(text, 'B', WORD_MAX_CHARACTERS, true).replace(/\?= =\?/g, '?=\r\n =?');

function asciiAddress({ name, address }: MailAddress): string {
  const sendable = withAsciiDomain(address);
  if (!isAscii(sendable)) return `${encoded(formatAddress({ name, address }))}:;`;
  return isAscii(name) ? formatAddress({ name, address: sendable }) : `${encoded(name)} <${sendable}>`;
}
