/** The words of a message: its text, with HTML turned into text where there is no other, and the newest part alone. */
import { PREVIEW_MAX_CHARACTERS } from '../../domain/mail-limits.ts';
import { storableText } from './charset.ts';
import { HTML_MAX_CHARACTERS, textOfHtml } from './html-text.ts';
import type { PartNode } from './index-message.ts';
import { bodyParts, isBodyText, partText } from './parts.ts';
import { replyText } from './reply-text.ts';

/** Bytes of the body looked at for a preview. */
const PREVIEW_BYTES = 8_192;
/** What lies behind this is in `text` alone. */
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
  return joinTexts(root, (part) => partText(bytes, part, maxBytes));
}

/**
 * The text of a message from the decoded texts of its parts, in their order. Of alternatives the plain ones are taken,
 * HTML only where these say nothing: a list that adds its plain footer to an HTML message does not hide the message.
 */
export function joinTexts(root: PartNode, decode: (part: PartNode) => string): MessageText {
  const decoded = new Map<PartNode, string>();
  const textOf = (part: PartNode): string => {
    const text = decoded.get(part) ?? decode(part);
    decoded.set(part, text);
    return text;
  };
  const { html } = bodyParts(root);
  const text = shownTexts(root, textOf, { htmlCharacters: HTML_MAX_CHARACTERS }).join('\n');
  const source = html.map(({ part }) => textOf(part)).join('\n');
  return { text: storableText(text), html: html.length === 0 ? null : storableText(source) };
}

interface Budget {
  htmlCharacters: number;
}

/** Texts of the parts that are shown; those that say nothing are left out beside others. */
function shownTexts(part: PartNode, textOf: (part: PartNode) => string, budget: Budget): string[] {
  if (part.type !== 'multipart' || part.parts === undefined)
    return isBodyText(part) ? [leafText(part, textOf, budget)] : [];
  if (part.subtype === 'alternative') {
    const plain = part.parts.filter((child) => bodyParts(child).html.length === 0);
    const texts = withoutBlank(plain.flatMap((child) => shownTexts(child, textOf, budget)));
    if (texts.some((text) => text.trim() !== '')) return texts;
    const rich = part.parts.filter((child) => bodyParts(child).html.length > 0);
    if (rich.length > 0) return withoutBlank(rich.flatMap((child) => shownTexts(child, textOf, budget)));
    return texts;
  }
  return withoutBlank(part.parts.flatMap((child) => shownTexts(child, textOf, budget)));
}

function withoutBlank(texts: string[]): string[] {
  const said = texts.filter((text) => text.trim() !== '');
  return said.length > 0 ? said : texts;
}

function leafText(part: PartNode, textOf: (part: PartNode) => string, budget: Budget): string {
  const text = textOf(part);
  if (part.subtype === 'plain') return text;
  const read = text.slice(0, budget.htmlCharacters);
  budget.htmlCharacters -= read.length;
  return textOfHtml(read);
}

/** The text without quoted mail and signature, as far as these can be told; all of it where nothing else is there. */
export function extractReply(text: string): string {
  const looked = text.slice(0, REPLY_MAX_CHARACTERS).toWellFormed();
  return replyText(looked) || looked.trim();
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
