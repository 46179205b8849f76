/**
 * A message for hosts that do not announce SMTPUTF8 (RFC 6531 §3.1): its header without UTF-8. Pure.
 *
 * Text becomes encoded words (RFC 2047). An address with characters beyond ASCII in front of its `@` has no ASCII form:
 * it becomes a group without members, whose name shows it (RFC 6857 §3.1.8). The body does not change.
 */
import { formatAddress, type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeRawHeader } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { findBodyStart, type HeaderField, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { encodeWords } from 'nodemailer/lib/mime-funcs';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';

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
