/** Makes the searchable texts and words of messages (`message_text`) from their bytes, and stores them. */

import { type SearchText, searchText } from '@agent-mailbox/mail-store/search-text';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import type { Sql } from '#db/database.ts';
import { SEARCH_TEXT_MAX_BYTES, SEARCH_WORDS_MAX_BYTES } from '#domain/mail/mail-limits.ts';

export interface TextSource {
  readonly messageId: string;
  readonly bytes: Buffer;
  readonly parts: PartNode;
  /** As stored in `message_content`. */
  readonly text: string;
}

/** Header fields whose words count as the message's own. */
const WORD_FIELDS = ['subject', 'from', 'to', 'cc'];

/**
 * A message that was purged meanwhile is skipped.
 *
 * @param options.again existing texts of the current version are replaced too
 */
export async function storeSearchTexts(
  sql: Sql,
  sources: readonly TextSource[],
  { again = false }: { again?: boolean } = {},
): Promise<void> {
  const rows: (SearchText & { id: string; words: string })[] = [];
  for (const { messageId, bytes, parts, text } of sources) {
    const fields = headerFields(bytes, parts.header, parts.body);
    const heads = WORD_FIELDS.map((name) => decodeWords(firstValue(fields, name) ?? ''));
    // to_tsvector reads a backslash before anything as an escape, and refuses words above 2 KB with a notice each.
    const words = cutToBytes(storableText([...heads, text].join('\n')), SEARCH_WORDS_MAX_BYTES).replaceAll('\\', ' ');
    rows.push({ id: messageId, words, ...searchText(bytes, parts, SEARCH_TEXT_MAX_BYTES, fields) });
    // Text of a large message takes milliseconds: let deliveries in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await sql.query(STORE, [
    rows.map(({ id }) => id),
    rows.map(({ body }) => body),
    rows.map(({ cut }) => cut),
    rows.map(({ words }) => words),
    rows.map(({ header }) => header),
    rows.map(({ envelope }) => envelope),
    rows.map(({ partHeaders }) => partHeaders),
    again,
  ]);
}

function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

const STORE = `
  insert into message_text as stored (message_id, body, cut, words, header, envelope, part_headers)
  select t.id, t.body, t.cut, to_tsvector('simple', t.words), t.header, t.envelope, t.part_headers
    from unnest($1::text[], $2::text[], $3::bool[], $4::text[], $5::text[], $6::text[], $7::text[])
      as t (id, body, cut, words, header, envelope, part_headers)
   where exists (select from message m where m.id = t.id)
  on conflict (message_id) do update
     set body = excluded.body, cut = excluded.cut, words = excluded.words, header = excluded.header,
         envelope = excluded.envelope, part_headers = excluded.part_headers, fill_again = false
   where stored.fill_again or $8`;
