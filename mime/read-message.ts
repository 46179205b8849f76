/**
 * Everything the store keeps about a message, computed from its bytes. Pure.
 *
 *     content       what a reader sees: text, the new part of a reply, links, one-time codes. Computed once, when the
 *                   message is stored; everything that shows a message takes it from the store
 *     unreadable    the little that is said of a message that cannot be read within the limits; bounded before it begins
 */

import { readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { type PartNode, wireGrowth } from '@agent-mailbox/mime-structure/index-message';
import { bodyParts, isBodyText, partText } from '@agent-mailbox/mime-structure/parts';
import { type MessageStructure, readStructure, structureOf } from '@agent-mailbox/mime-structure/read-structure';
import {
  HTML_MAX_CHARACTERS,
  PREVIEW_MAX_CHARACTERS,
  SEARCH_TEXT_MAX_BYTES,
  TEXT_MAX_CHARACTERS,
  UNREADABLE_FIELD_MAX_BYTES,
  UNREADABLE_HEADER_MAX_BYTES,
} from '#domain/mail/mail-limits.ts';
import { type MessageSignals, NO_SIGNALS } from '#domain/mail/message-signals.ts';
import { attachmentDigests, type LabelledAttachment, labelledAttachments } from './attachments.ts';
import { type HtmlContent, type HtmlLink, htmlContent, textForCodes } from './html-content.ts';
import { type MessageLink, messageLinks } from './message-links.ts';
import { type CodeCandidate, codeCandidates, surelyCode } from './one-time-code.ts';
import { extractReply, ownText } from './reply-text.ts';
import { messageSignals } from './signals/message-signals.ts';

export interface ReadMessage extends Omit<MessageStructure, 'attachments'> {
  readonly attachments: readonly LabelledAttachment[];
  readonly preview: string;
  readonly content: MessageContent;
  /** SHA-256 of each attachment, decoded; hexadecimal. */
  readonly attachmentDigests: readonly string[];
  readonly examined: MessageSignals;
}

/** Structure and content. Linear in the message, but of a large one or one with HTML it is for a thread of its own. */
export const readMessage = (bytes: Uint8Array): ReadMessage => withContent(bytes, readStructure(bytes));

export function withContent(bytes: Uint8Array, structure: MessageStructure): ReadMessage {
  const read = textAndLinks(bytes, structure.parts);
  const content = contentOf(read, structure.subject);
  const attachments = labelledAttachments(bytes, structure);
  const header = headerFields(bytes, structure.parts.header, structure.parts.body);
  const replyTo = readableAddresses(firstValue(header, 'reply-to') ?? '');
  return {
    ...structure,
    attachments,
    preview: previewOf(content),
    content,
    attachmentDigests: attachmentDigests(bytes, structure.parts, structure.attachments),
    examined: messageSignals({ ...structure, ...read, replyTo, attachments }),
  };
}

/** A message whose content could not be read. */
export const withoutContent = (structure: MessageStructure): ReadMessage => ({
  ...structure,
  preview: '',
  content: UNREAD_CONTENT,
  attachmentDigests: [],
  examined: NO_SIGNALS,
});

/** `cut`: there is more text than is kept. `failed`: the message could not be read within its time or memory. */
export type TextStatus = 'ok' | 'cut' | 'failed';

export interface MessageContent {
  readonly status: TextStatus;
  /** Plain text, made from the HTML where there is no other. */
  readonly text: string;
  /** The text without quoted mail and signature. */
  readonly reply: string;
  /** What may be a one-time code, surest first. */
  readonly codes: readonly CodeCandidate[];
  readonly links: readonly MessageLink[];
}

/** Content of a message that could not be read. */
export const UNREAD_CONTENT: MessageContent = { status: 'failed', text: '', reply: '', codes: [], links: [] };

/** @param subject decoded */
function contentOf({ text, htmlText, htmlForCodes, links, cut }: TextAndLinks, subject: string): MessageContent {
  const own = ownText(subject, text);
  const ownHtml = ownText(subject, htmlForCodes);
  const codes = codesOf(subject, text === htmlText ? ownHtml : own, ownHtml);
  const isQuoted = quotedLinks(text, htmlText, own, ownText(subject, htmlText));
  return {
    status: cut ? 'cut' : 'ok',
    text,
    reply: storableText(extractReply(text)),
    codes: codes.map((one) => ({ ...one, code: storableText(one.code) })),
    links: messageLinks({ subject, text, links, code: surelyCode(codes), isQuoted }).map((link) => ({
      ...link,
      url: storableText(link.url),
      text: link.text === null ? null : storableText(link.text),
    })),
  };
}

/** Some senders leave the code out of the plain alternative. */
function codesOf(subject: string, text: string, htmlText: string): readonly CodeCandidate[] {
  const inText = codeCandidates({ subject, text });
  if (surelyCode(inText) !== null || htmlText === '' || htmlText === text) return inText;
  const inHtml = codeCandidates({ subject, text: htmlText });
  return surelyCode(inHtml) === null ? inText : inHtml;
}

/** Links whose address is in the text of a mail, but not in what the mail itself says. */
function quotedLinks(text: string, htmlText: string, own: string, ownHtml: string): (href: string) => boolean {
  if (own === text && ownHtml === htmlText) return () => false;
  return (href) => {
    const written = href
      .replace(/\s+/g, '')
      .replace(/^https?:\/\//i, '')
      .replace(/\/$/, '');
    return (
      (text.includes(written) || htmlText.includes(written)) && !own.includes(written) && !ownHtml.includes(written)
    );
  };
}

/** First words for lists (RFC 8970): one line, at most 200 characters, cut between characters. */
export function previewOf({ text }: Pick<MessageContent, 'text'>): string {
  const units = PREVIEW_MAX_CHARACTERS * 2;
  const opening = inOneLine(text.slice(0, units * 2));
  // Only a text that begins with much space needs more of it to be looked at.
  const line =
    opening.length >= units || text.length <= units * 2
      ? opening
      : inOneLine(text.slice(0, PREVIEW_LOOKED_AT_CHARACTERS));
  return [...line.slice(0, units)].slice(0, PREVIEW_MAX_CHARACTERS).join('').toWellFormed();
}
const PREVIEW_LOOKED_AT_CHARACTERS = 8_192;

const inOneLine = (text: string): string => text.replace(NOT_ONE_BLANK, ' ').trim();
const NOT_ONE_BLANK =
  /(?! )[\s\p{Cc}\u200b-\u200f\u2060\ufeff\u00ad][\s\p{Cc}\u200b-\u200f\u2060\ufeff\u00ad]*| [\s\p{Cc}\u200b-\u200f\u2060\ufeff\u00ad]+/gu;

interface TextAndLinks {
  readonly text: string;
  /** Text of the HTML, whether it is the text that is shown or not. */
  readonly htmlText: string;
  /** See `textForCodes`. */
  readonly htmlForCodes: string;
  readonly links: readonly HtmlLink[];
  readonly cut: boolean;
  /** Of the HTML what a person does not see, and comments. */
  readonly hidden: string;
  readonly comments: string;
}

/** Reads each part once, and of all of them together only so much. */
function textAndLinks(bytes: Uint8Array, root: PartNode): TextAndLinks {
  let cut = false;
  let htmlLeft = HTML_MAX_CHARACTERS;
  let textLeft = TEXT_MAX_CHARACTERS;
  const documents = new Map<PartNode, HtmlContent & { readonly forCodes: string }>();
  const decode = (part: PartNode): string => {
    cut ||= part.end - part.body > SEARCH_TEXT_MAX_BYTES;
    return partText(bytes, part, SEARCH_TEXT_MAX_BYTES);
  };
  const documentOf = (part: PartNode): HtmlContent & { readonly forCodes: string } => {
    const known = documents.get(part);
    if (known !== undefined) return known;
    const html = htmlLeft > 0 ? decode(part) : '';
    const shown = html.slice(0, htmlLeft);
    const content = htmlContent(shown);
    const document = { ...content, forCodes: textForCodes(shown, content) };
    cut ||= htmlLeft <= 0 || html.length > htmlLeft || document.cut;
    htmlLeft -= Math.min(html.length, htmlLeft);
    documents.set(part, document);
    return document;
  };
  const textOf = (part: PartNode): string => {
    if (textLeft <= 0) {
      cut = true;
      return '';
    }
    const whole = part.subtype === 'html' ? documentOf(part).text : decode(part);
    const text = whole.slice(0, textLeft);
    cut ||= text.length < whole.length;
    textLeft -= text.length;
    return text;
  };
  const text = storableText(shownTexts(root, textOf).join('\n'));
  const { html } = bodyParts(root);
  const htmlDocuments = html.map(({ part }) => documentOf(part));
  return {
    text,
    htmlText: htmlDocuments.map((document) => document.text).join('\n'),
    htmlForCodes: htmlDocuments.map(({ forCodes }) => forCodes).join('\n'),
    links: htmlDocuments.flatMap(({ links }) => links),
    cut,
    hidden: htmlDocuments.map(({ hidden }) => hidden).join('\n\n'),
    comments: htmlDocuments.map(({ comments }) => comments).join('\n\n'),
  };
}

/** The whole message says it is a multipart, and no delimiter is in it: its body is read as it stands. */
const isUndivided = (part: PartNode): boolean =>
  part.header === 0 && part.type === 'multipart' && part.parts === undefined;

type TextOf = (part: PartNode) => string;

/**
 * Texts of the parts that are shown, in their order; those that say nothing are left out beside others. Of alternatives
 * the plain ones are taken, HTML only where these say nothing: a list that adds its plain footer to an HTML message
 * does not hide the message.
 */
function shownTexts(part: PartNode, textOf: TextOf): string[] {
  if (part.type !== 'multipart' || part.parts === undefined)
    return isBodyText(part) || isUndivided(part) ? [textOf(part)] : [];
  if (part.subtype === 'alternative') {
    const plain = part.parts.filter((child) => bodyParts(child).html.length === 0);
    const texts = withoutBlank(plain.flatMap((child) => shownTexts(child, textOf)));
    if (texts.some((text) => text.trim() !== '')) return texts;
    const rich = part.parts.filter((child) => bodyParts(child).html.length > 0);
    if (rich.length > 0) return withoutBlank(rich.flatMap((child) => shownTexts(child, textOf)));
    return texts;
  }
  return withoutBlank(part.parts.flatMap((child) => shownTexts(child, textOf)));
}

function withoutBlank(texts: string[]): string[] {
  const said = texts.filter((text) => text.trim() !== '');
  return said.length > 0 ? said : texts;
}

const LF = 0x0a;
/** Fields a list shows, each once. */
const FIELDS = new Set(['from', 'to', 'cc', 'subject', 'date', 'message-id', 'in-reply-to', 'references']);

/** Its header as far as it is short; the body is one part of unknown bytes, which every protocol serves all the same. */
export function readUnreadable(bytes: Uint8Array): MessageStructure {
  const body = findBodyStart(bytes, 0, bytes.length);
  const found = new Set<string>();
  const fields = headerFields(bytes, 0, Math.min(body, UNREADABLE_HEADER_MAX_BYTES)).flatMap((field) => {
    if (!FIELDS.has(field.name) || found.has(field.name)) return [];
    found.add(field.name);
    return [{ ...field, value: field.value.slice(0, UNREADABLE_FIELD_MAX_BYTES) }];
  });
  let lines = 0;
  for (let at = bytes.indexOf(LF, body); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  const growth = wireGrowth(bytes);
  const parts: PartNode = {
    header: 0,
    body,
    end: bytes.length,
    lines,
    type: 'application',
    subtype: 'octet-stream',
    encoding: '7bit',
    ...(growth === 0 ? {} : { wireGrowth: growth }),
  };
  return { ...structureOf(bytes, parts, fields), attachments: [] };
}
