/**
 * The invariants of the mail store. Each rule is one query for violating rows, read in one repeatable-read snapshot, so
 * that a store under load can be checked.
 *
 * Numbers are those of the list in `docs/mail.md`.
 */

import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import type { Database, Sql } from '#db/database.ts';
import { blobKey } from '#mailstore/blobs/blob-store.ts';
import { listedHeader } from '#mailstore/delivery/listed-header.ts';
import { hashContent } from '#mime/content-hash.ts';
import { QUERY_RULES } from './invariant-rules.ts';

export interface RuleResult {
  readonly rule: string;
  readonly text: string;
  readonly checked: number;
  readonly atFault: number;
  /** Some violating rows. */
  readonly examples: readonly string[];
}

export interface CheckOptions {
  /** Hash and index every message instead of a sample. */
  readonly all?: boolean;
}

const SAMPLE_MESSAGES = 500;
const EXAMPLES = 5;
const PAGE = 100;

/** Checks every rule. Takes no locks. */
export async function checkMailStore(db: Database, options: CheckOptions = {}): Promise<RuleResult[]> {
  return db.transaction(async (sql) => {
    await sql.query('set transaction isolation level repeatable read, read only');
    const results: RuleResult[] = [];
    for (const { rule, text, count, faults } of QUERY_RULES) {
      const [counted] = await sql.query<{ n: number }>(count);
      const found = await sql.query<{ fault: string }>(faults);
      const examples = found.slice(0, EXAMPLES).map(({ fault }) => fault);
      results.push({ rule, text, checked: Number(counted?.n ?? 0), atFault: found.length, examples });
    }
    results.push(await checkContents(sql, options), await checkReleased(sql));
    return results;
  });
}

/** Rules 4 and 8: blobs hash to their keys, and the current indexer produces what is stored. */
async function checkContents(sql: Sql, { all = false }: CheckOptions): Promise<RuleResult> {
  const faults: string[] = [];
  let checked = 0;
  let after = '';
  for (;;) {
    const rows = await sql.query<{
      id: string;
      blob: Buffer;
      bytes: Buffer;
      envelope: Buffer;
      bodystructure: Buffer;
      parts: PartNode;
      text_status: string;
      header_lines: Buffer[];
      long_header_lines: Buffer[];
      envelope_texts: (string | null)[];
    }>(all ? ALL_CONTENTS : SAMPLED_CONTENTS, all ? [after] : [after, SAMPLE_MESSAGES]);
    for (const row of rows) {
      checked++;
      after = row.id;
      const read = readStructure(row.bytes);
      if (!blobKey(row.bytes).equals(row.blob)) faults.push(`blob of ${row.id} does not hash to its key`);
      if (row.text_status === 'due' || row.text_status === 'failed') continue; // read by an earlier version, or not at all
      if (!read.envelope.equals(row.envelope)) faults.push(`ENVELOPE of ${row.id} differs`);
      if (!read.bodyStructure.equals(row.bodystructure)) faults.push(`BODYSTRUCTURE of ${row.id} differs`);
      if (!sameTree(read.parts, row.parts)) faults.push(`offset tree of ${row.id} differs`);
      const listed = listedHeader(row.bytes, row.parts);
      const same =
        row.header_lines.every((lines) => lines.equals(listed.lines)) &&
        row.long_header_lines.every((lines) => lines.equals(listed.longLines)) &&
        row.envelope_texts.every((text) => text === listed.envelopeText);
      if (!same) faults.push(`header lines of ${row.id} differ`);
      if (!nests(row.parts, 0, row.bytes.length)) faults.push(`offsets of ${row.id} do not nest`);
    }
    if (!all || rows.length < PAGE) break;
  }
  const text =
    'Blobs hash to their keys; stored ENVELOPE, BODYSTRUCTURE, offsets and header lines are what the indexer makes today';
  return { rule: '8', text, checked, atFault: faults.length, examples: faults.slice(0, EXAMPLES) };
}

/** Rule 9: bytes and recipients of released messages are those that were approved. */
async function checkReleased(sql: Sql): Promise<RuleResult> {
  const rows = await sql.query<{ id: string; hash: Buffer; bytes: Buffer; recipients: string[] }>(RELEASED, [
    SAMPLE_MESSAGES,
  ]);
  const faults = rows
    .filter(({ hash, bytes, recipients }) => !hashContent(bytes, recipients).equals(hash))
    .map(({ id }) => `message ${id} was released and differs from what was approved`);
  const text = 'Bytes and recipients of released messages hash to what was approved';
  return { rule: '9', text, checked: rows.length, atFault: faults.length, examples: faults.slice(0, EXAMPLES) };
}

const RELEASED = `
  select o.id, c.content_hash as hash, b.bytes,
         array(select r.address from outbound_recipient r where r.message_id = o.id) as recipients
    from outbound_message o join consent c on c.id = o.consent_id join blob b on b.sha256 = o.blob
   where c.status = 'approved' and o.state in ('sending', 'done') order by md5(o.id) limit $1`;

const INDEXED = 'from placement p where p.message_id = m.id and p.header_lines is not null';
const CONTENT_COLUMNS = `m.id, m.blob, b.bytes, m.envelope, m.bodystructure, m.parts, m.text_status,
    array(select p.header_lines ${INDEXED}) as header_lines, array(select p.long_header_lines ${INDEXED}) as long_header_lines,
    array(select p.envelope_text ${INDEXED}) as envelope_texts
    from message m join blob b on b.sha256 = m.blob`;
const ALL_CONTENTS = `select ${CONTENT_COLUMNS} where m.id > $1 order by m.id limit ${PAGE}`;
/** The random half of an id gives a sample that differs from the newest or oldest messages. */
const SAMPLED_CONTENTS = `select ${CONTENT_COLUMNS} where m.id > $1 order by md5(m.id) limit $2`;

/** jsonb does not keep the order of keys. */
function sameTree(a: unknown, b: unknown): boolean {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  const left = Object.entries(a);
  const right = new Map(Object.entries(b));
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameTree(value, right.get(key)));
}

/** Whether all offsets are ordered and inside those of the enclosing part. */
export function nests(part: PartNode, from: number, to: number): boolean {
  if (!(from <= part.header && part.header <= part.body && part.body <= part.end && part.end <= to)) return false;
  let at = part.body;
  for (const child of part.parts ?? []) {
    if (!nests(child, at, part.end)) return false;
    at = child.end;
  }
  return true;
}
