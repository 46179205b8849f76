/** The words of a message: its text, with HTML turned into text where there is no other, and the newest part alone. */
import EmailReplyParser from 'email-reply-parser';
import { compile } from 'html-to-text';
import { PREVIEW_MAX_CHARACTERS } from '../../domain/mail-limits.ts';
import { storableText } from './charset.ts';
import type { PartNode } from './index-message.ts';
import { bodyParts, type NumberedPart, partText } from './parts.ts';

const htmlText = compile({
  wordwrap: false,
  limits: { maxInputLength: 1_048_576, maxDepth: 64, maxChildNodes: 20_000, ellipsis: '' },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'table', format: 'block' },
  ],
});

/** Bytes of the body looked at for a preview. */
const PREVIEW_BYTES = 8_192;
/** Reply detection works line by line with regular expressions: quoted mail below this much is not looked at. */
const REPLY_MAX_CHARACTERS = 65_536;

export interface MessageText {
  /** Plain text of the message, from its HTML where it has no plain part. */
  readonly text: string;
  /** HTML as sent, or null. */
  readonly html: string | null;
}

/**
 * @param maxBytes encoded bytes of each part that are looked at
 */
export function messageText(bytes: Uint8Array, root: PartNode, maxBytes?: number): MessageText {
  const { plain, html } = bodyParts(root);
  const textOf = ({ part }: NumberedPart) => partText(bytes, part, maxBytes);
  return joinTexts(plain.map(textOf), html.map(textOf));
}

/** The text of a message from the decoded texts of its parts. */
export function joinTexts(plain: readonly string[], html: readonly string[]): MessageText {
  const htmlSource = html.length === 0 ? null : html.join('\n');
  const plainText = plain.join('\n');
  const text = plainText.trim() !== '' || htmlSource === null ? plainText : textOfHtml(htmlSource);
  return { text: storableText(text), html: htmlSource === null ? null : storableText(htmlSource) };
}

/** Text of an HTML document. Damaged documents give what can be read. */
export function textOfHtml(html: string): string {
  try {
    return htmlText(html);
  } catch {
    return html.replace(/<[^>]{0,2000}>/g, ' ');
  }
}

/** The text without quoted mail and signature, as far as these can be told. */
export function extractReply(text: string): string {
  const looked = text.slice(0, REPLY_MAX_CHARACTERS).toWellFormed();
  try {
    const visible = new EmailReplyParser().read(looked).getVisibleText().trim();
    return visible === '' ? looked.trim() : visible;
  } catch {
    return looked.trim();
  }
}

/** First words for lists (RFC 8970): one line, at most 200 characters, cut between characters. */
export function previewOf(bytes: Uint8Array, root: PartNode): string {
  const { text } = messageText(bytes, root, PREVIEW_BYTES);
  const line = text
    .slice(0, PREVIEW_BYTES)
    .replace(/[\s\u200b-\u200f\u2060\ufeff\u00ad]+/g, ' ')
    .trim();
  return [...line.slice(0, PREVIEW_MAX_CHARACTERS * 2)].slice(0, PREVIEW_MAX_CHARACTERS).join('').toWellFormed();
}
