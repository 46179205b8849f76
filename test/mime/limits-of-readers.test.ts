/** The table of limits in docs/mail.md says what the code does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { ADDRESSES_MAX } from '@agent-mailbox/mime-structure/addresses';
import { DETECTION_MAX_BYTES } from '@agent-mailbox/mime-structure/charset';
import {
  BOUNDARY_GUESS_MAX_BYTES,
  BOUNDARY_MAX,
  NAME_MAX_CHARACTERS,
} from '@agent-mailbox/mime-structure/index-message';
import { PARAMETERS_MAX } from '@agent-mailbox/mime-structure/parameters';
import { DATE_MAX_CHARACTERS } from '@agent-mailbox/mime-structure/parse-date';
import {
  ADDRESSES_SHOWN_MAX,
  REFERENCES_MAX,
  SUBJECT_MAX_CHARACTERS,
} from '@agent-mailbox/mime-structure/read-structure';
import * as limits from '#domain/mail/mail-limits.ts';
import { LINKS_MAX } from '#domain/mail/mail-limits.ts';
import { ATTRIBUTE_MAX_CHARACTERS } from '#mime/html-content.ts';
import { RECIPIENTS_READ_MAX } from '#mime/read-report.ts';
import { REPLY_MAX_CHARACTERS } from '#mime/reply-text.ts';

const rows: readonly (readonly [reader: string, limit: string, ...values: number[]])[] = [
  ['MIME structure', 'depth; parts', limits.MIME_DEPTH_MAX, limits.MIME_PARTS_MAX],
  ['MIME structure', 'header block of a part, bytes', limits.HEADER_BLOCK_MAX_BYTES],
  ['MIME structure', 'boundary, characters', BOUNDARY_MAX],
  ['MIME structure', 'bytes looked through for a wrong boundary', BOUNDARY_GUESS_MAX_BYTES],
  ['parameters', 'of one field', PARAMETERS_MAX],
  ['file names', 'characters', NAME_MAX_CHARACTERS],
  ['addresses', 'of one field read; shown', ADDRESSES_MAX, ADDRESSES_SHOWN_MAX],
  ['subject', 'characters', SUBJECT_MAX_CHARACTERS],
  ['dates', 'characters', DATE_MAX_CHARACTERS],
  ['references', 'Message-IDs', REFERENCES_MAX],
  ['charset detection', 'bytes', DETECTION_MAX_BYTES],
  ['text', 'encoded bytes of each part', limits.SEARCH_TEXT_MAX_BYTES],
  ['text', 'characters of a message', limits.TEXT_MAX_CHARACTERS],
  ['HTML', 'characters of a message', limits.HTML_MAX_CHARACTERS],
  ['HTML', 'elements open at once', limits.HTML_OPEN_ELEMENTS_MAX],
  ['HTML', 'characters of an attribute', ATTRIBUTE_MAX_CHARACTERS],
  ['HTML', 'links', limits.HTML_LINKS_MAX],
  ['reply', 'characters', REPLY_MAX_CHARACTERS],
  ['links', 'of a message', LINKS_MAX],
  ['delivery status, complaints', 'recipients', RECIPIENTS_READ_MAX],
  [
    'a message that cannot be read',
    'header bytes; bytes of a field',
    limits.UNREADABLE_HEADER_MAX_BYTES,
    limits.UNREADABLE_FIELD_MAX_BYTES,
  ],
];

it('the table of what is read of content from strangers says what the code does', () => {
  const document = readFileSync(new URL('../../docs/mail.md', import.meta.url), 'utf8');
  const [table = ''] = /\| reader \| limit \| value \|\n\|---\|---\|---\|\n(?:\|.*\n)+/.exec(document) ?? [];
  const expected = rows.map(
    ([reader, limit, ...values]) =>
      `| ${reader} | ${limit} | ${values.map((n) => n.toLocaleString('en')).join('; ')} |`,
  );
  assert.deepEqual(table.trim().split('\n').slice(2), expected);
  const [text] =
    /Header, structure and text of a message are read once[^]*?Lists, messages, search/.exec(document) ?? [];
  assert.ok(
    text?.includes(
      `${limits.READING_MAX_CPU_MS / 1_000} s of processor time, ${limits.READING_MAX_WALL_MS / 1_000} s in all or ${limits.READING_MAX_HEAP_MIB} MiB`,
    ),
  );
  assert.ok(text?.includes(`When ${limits.READING_WAITING_MAX_BYTES / 2 ** 20} MiB wait in a process`));
  assert.deepEqual(
    [limits.READ_INLINE_MAX_BYTES, limits.READING_MAX_HEAP_MIB, limits.READING_THREADS_MAX],
    [65_536, 256, 2],
  );
});
