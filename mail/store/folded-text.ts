/** Texts as search compares them: lower-cased and in NFC, so that a substring of one is a plain substring of the other. */
import { storableText } from '../mime/charset.ts';
import { decodeWords } from '../mime/encoded-words.ts';
import { headerFields } from '../mime/header-fields.ts';
import type { PartNode } from '../mime/index-message.ts';

export const foldText = (text: string): string => storableText(text).normalize('NFC').toLowerCase();

/** Decoded header of a message, folded: a line break before each field, then `name: value`. */
export function foldedHeader(bytes: Uint8Array, { header, body }: Pick<PartNode, 'header' | 'body'>): string {
  let text = '';
  for (const { name, value } of headerFields(bytes, header, body))
    text += `\n${name}: ${decodeWords(value).replace(/[\r\n]+/g, ' ')}`;
  return foldText(text);
}
