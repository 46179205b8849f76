/** The newest part of a text, and the HTML of a message as it came. */

import { storableText } from '@agent-mailbox/mime-structure/charset';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { bodyParts, partText } from '@agent-mailbox/mime-structure/parts';
import { SEARCH_TEXT_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { replyText } from './reply-text.ts';

/** What lies behind this is in `text` alone. */
export const REPLY_MAX_CHARACTERS = 65_536;

/** The text without quoted mail and signature, as far as these can be recognized; the whole text if nothing else is left. */
export function extractReply(text: string): string {
  const looked = text.slice(0, REPLY_MAX_CHARACTERS).toWellFormed();
  return replyText(looked) || looked.trim();
}

/** HTML of a message as sent, decoded and not otherwise read; of each part the first MiB. Null: it has none. */
export function htmlSource(bytes: Uint8Array, root: PartNode): string | null {
  const { html } = bodyParts(root);
  if (html.length === 0) return null;
  return storableText(html.map(({ part }) => partText(bytes, part, SEARCH_TEXT_MAX_BYTES)).join('\n'));
}
