/**
 * `npm run bench:trust`: what it costs to compare outgoing mail with stored mail: time of a check, of reading a stored
 * message in the background, and space.
 *
 * Options: `--mails <n>` (100,000) in the organization, `--checks <n>` (200). Mails have 5 KB: sentences of a vocabulary
 * of 20,000 words with the frequencies of a language (Zipf), below a subject, with two lines of numbers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { storeCarriedMails } from '#mailstore/carried/carried-mail.ts';
import { findCarried } from '#sending/carried/find-carried.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: { mails: { type: 'string', default: '100000' }, checks: { type: 'string', default: '200' } },
});
const [mails, checks] = [Number(values.mails), Number(values.checks)];

const ORGANIZATION = 'org_bench';
const MAILBOXES = 10;
const MAIL_WORDS = 560;
const VOCABULARY = 20_000;
const BATCH = 500;

let seed = 42;
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** A word by Zipf's law: the rarer the longer. */
function word(): string {
  let text = '';
  for (let rest = Math.floor(VOCABULARY ** random()); rest > 0 || text.length < 2; rest = Math.floor(rest / 8))
    text += LETTERS.charAt((rest % 8) + 8 * (text.length % 3));
  return text;
}

function textOf(i: number): string {
  const words = Array.from({ length: MAIL_WORDS }, word);
  const lines: string[] = [];
  for (let at = 0; at < words.length; at += 12) lines.push(`${words.slice(at, at + 12).join(' ')}.`);
  return `Hello,\n\n${lines.join('\n')}\n\nOrder ${1_000_000 + i}, parcel ${7_000_000 + i * 7}, sum ${10_000 + (i % 90_000)}.75\n`;
}

async function fill(db: Database): Promise<{ readonly readMs: number }> {
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'bench', 'bench', 'unlimited')`, [
    ORGANIZATION,
  ]);
  for (let i = 0; i < MAILBOXES; i++)
    await db.query(
      `insert into mailboxes (id, organization_id, address, local_part, domain, name, status, sync_status, token_hash)
       values ($1, $2, $3, $4, 'bench.example', 'bench', 'active', 'synced', sha256(convert_to($4, 'UTF8')))`,
      [`mbx_${i}`, ORGANIZATION, `a${i}@bench.example`, `a${i}`],
    );
  await db.query(`insert into blob (sha256, size, bytes) values (sha256('x'), 1, 'x')`);
  let readMs = 0;
  for (let from = 0; from < mails; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, mails - from) }, (_, k) => ({
      id: `msg_${String(from + k).padStart(26, '0')}`,
      mailbox: `mbx_${(from + k) % MAILBOXES}`,
      author: `s${(from + k) % 5_000}@sender${(from + k) % 1_000}.example`,
      body: textOf(from + k),
    }));
    await db.query(FILL, [JSON.stringify(rows)]);
    const startedAt = performance.now();
    for (let k = 0; k < rows.length; k += 20)
      await storeCarriedMails(
        db,
        ORGANIZATION,
        rows.slice(k, k + 20).map(({ id }) => id),
      );
    readMs += performance.now() - startedAt;
  }
  await db.query('analyze');
  return { readMs };
}

const FILL = `
  with given as (
    select * from json_to_recordset($1::json) as g (id text, mailbox text, author text, body text)
  ), stored as (
    insert into message (id, mailbox_id, blob, thread_id, origin, received_at, size, from_addresses, to_addresses, cc_addresses,
      subject, preview, envelope, bodystructure, parts, attachments, text_status)
    select id, mailbox, sha256('x'), 'thr_' || id, 'smtp', now(), 5000, json_build_array(json_build_object('name', '', 'address', author)), '[]', '[]',
      'Subject of ' || id, left(body, 200), '', '', '{}', '[]', 'ok' from given
  ), due as (
    insert into carried_due (message_id, organization_id) select id, '${ORGANIZATION}' from given
  )
  insert into message_content (message_id, body, extracts) select id, body, '{"reply":null,"codes":[],"links":[]}' from given`;

async function check(db: Database, text: string): Promise<{ readonly ms: number; readonly found: number }> {
  const startedAt = performance.now();
  const found = await findCarried(db, {
    organizationId: ORGANIZATION,
    mailboxId: 'mbx_0',
    threadId: null,
    outside: ['mallory@evil.example'],
    texts: { texts: [{ text, isRead: true }], cut: false },
    files: [],
    now: new Date(),
  });
  return { ms: performance.now() - startedAt, found: found.sources.length };
}

const quantile = (sorted: readonly number[], q: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0).toFixed(1);

async function measure(db: Database): Promise<void> {
  const { readMs } = await fill(db);
  const stored = await db.query<{ mail: string; body: string }>(
    `select message_id as mail, body from message_content order by md5(message_id) limit $1`,
    [checks],
  );
  for (const [name, texts] of [
    ['new text', Array.from({ length: checks }, (_, i) => textOf(mails + i))],
    ['a copied mail', stored.map(({ body }) => body)],
  ] as const) {
    for (const text of texts.slice(0, 20)) await check(db, text);
    const results: { readonly ms: number; readonly found: number }[] = [];
    for (const text of texts) results.push(await check(db, text));
    const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
    const found = results.filter((result) => result.found > 0).length;
    console.log(
      `check of ${name}, 5 KB: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms; found ${found} of ${texts.length}`,
    );
  }
  for (const length of [9, 12, 16]) {
    let found = 0;
    for (const { body } of stored) {
      const words = body.split(/\s+/);
      const at = 2 + Math.floor(random() * (MAIL_WORDS - length));
      if ((await check(db, `See: ${words.slice(at, at + length).join(' ')}`)).found > 0) found++;
    }
    console.log(`passages of ${length} words: found ${found} of ${stored.length}`);
  }
  const [space] = await db.query<{ carried: number; marks: number; content: number }>(
    `select pg_total_relation_size('carried_mail') + pg_total_relation_size('carried_mark') as carried,
            (select count(*) from carried_mark) as marks, (select sum(length(body)) from message_content) as content`,
  );
  console.log(`reading a stored mail: ${(readMs / mails).toFixed(2)} ms`);
  console.log(
    `space: ${Math.round((space?.carried ?? 0) / mails)} bytes and ${((space?.marks ?? 0) / mails).toFixed(0)} marks a mail of ${Math.round((space?.content ?? 0) / mails)} characters`,
  );
}

const folder = mkdtempSync(path.join(tmpdir(), 'bench-trust-'));
const postgres = await startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0 });
try {
  const db = await openDatabase({ url: postgres.url, poolMax: 4 });
  try {
    await migrate(db);
    await measure(db);
  } finally {
    await db.close();
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
