/** The little that is said of a message that cannot be read within the limits. Pure, and bounded before it begins. */

import { findBodyStart, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type MessageStructure, structureOf } from '@agent-mailbox/mime-structure/read-structure';
import { wireGrowth } from '@agent-mailbox/mime-structure/wire-lines';
import { UNREADABLE_FIELD_MAX_BYTES, UNREADABLE_HEADER_MAX_BYTES } from '#domain/mail/mail-limits.ts';

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
