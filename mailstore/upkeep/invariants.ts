/**
 * The invariants of the mail store that one query can check. Numbers are those of the list in `docs/mail.md`.
 *
 * The invariants of the mail store. Each rule is one query for violating rows, read in one repeatable-read snapshot, so
 * that a store under load can be checked.
 *
 * Numbers are those of the list in `docs/mail.md`.
 */
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Database } from '#db/database.ts';
import { type BlobSource, blobKey, readBlob } from '#mailstore/blobs/blob-store.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { hashContent } from '#mime/content-hash.ts';

interface QueryRule {
  readonly rule: string;
  readonly text: string;
  /** Counts the rows the rule is about. */
  readonly count: string;
  /** Violating rows, one text column `fault`. */
  readonly faults: string;
}

const QUERY_RULES: readonly QueryRule[] = [
  {
    rule: '1',
    text: 'UIDs ascend with the change log and are below uid_next',
    count: `select count(*) as n from placement`,
    faults: `
      select 'folder ' || p.folder_id || ' uid ' || p.uid || ' is not below uid_next' as fault
        from placement p join folder f on f.id = p.folder_id where p.uid >= f.uid_next
      union all
      select 'log ' || mailbox_id || ' ' || seq || ' adds uids below earlier ones' from (
        select mailbox_id, seq, lower(uids) as first, lag(upper(uids)) over (partition by folder_id order by seq) as before
          from change_log where kind = 'added') as l
       where first < before`,
  },
  {
    rule: '2',
    text: 'Counters of a folder equal the sums over its placements; messages of a mailbox likewise',
    count: `select (select count(*) from folder) + (select count(*) from mailbox_counter) as n`,
    faults: `
      select 'folder ' || f.id || ': total ' || f.total || '/' || coalesce(s.total, 0) || ', unseen ' || f.unseen || '/' ||
             coalesce(s.unseen, 0) || ', deleted ' || f.deleted || '/' || coalesce(s.deleted, 0) || ', bytes ' ||
             f.bytes || '/' || coalesce(s.bytes, 0) as fault
        from folder f left join (
          select p.folder_id, count(*) as total, sum(p.size) as bytes, count(*) filter (where s.flags & 1 = 0) as unseen,
                 count(*) filter (where s.flags & 8 <> 0) as deleted
            from placement p join placement_state s using (folder_id, uid) group by p.folder_id) s on s.folder_id = f.id
       where f.deleted_at is null and (f.total, f.unseen, f.deleted, f.bytes) is distinct from
             (coalesce(s.total, 0), coalesce(s.unseen, 0), coalesce(s.deleted, 0), coalesce(s.bytes, 0))
      union all
      select 'mailbox ' || c.mailbox_id || ': messages ' || c.messages || '/' || coalesce(s.n, 0)
        from mailbox_counter c left join (
          select f.mailbox_id, count(*) as n from placement p join folder f on f.id = p.folder_id
           where f.deleted_at is null group by 1) s using (mailbox_id)
       where c.messages <> coalesce(s.n, 0)`,
  },
  {
    rule: '3',
    text: 'bytes_used equals the sum of placement sizes and stays within the quota',
    count: `select count(*) as n from mailbox_counter`,
    faults: `
      select 'mailbox ' || c.mailbox_id || ': bytes_used ' || c.bytes_used || '/' || coalesce(s.n, 0) || ' of ' || c.quota_bytes as fault
        from mailbox_counter c left join (
          select f.mailbox_id, sum(p.size) as n from placement p join folder f on f.id = p.folder_id
           where f.deleted_at is null group by 1) s using (mailbox_id)
       where c.bytes_used <> coalesce(s.n, 0) or c.bytes_used > c.quota_bytes`,
  },
  {
    rule: '4',
    text: 'Every placement has message and state, every message its blob and a placement, and all sizes agree',
    count: `select (select count(*) from placement) + (select count(*) from message) as n`,
    faults: `
      select 'placement ' || p.folder_id || '/' || p.uid || ' of ' || p.message_id || ' lacks its message or state, or its size differs' as fault
        from placement p left join message m on m.id = p.message_id
        left join placement_state s on s.folder_id = p.folder_id and s.uid = p.uid
       where m.id is null or s.uid is null or m.size <> p.size
      union all
      select 'state ' || s.folder_id || '/' || s.uid || ' has no placement'
        from placement_state s left join placement p on p.folder_id = s.folder_id and p.uid = s.uid where p.uid is null
      union all
      select 'message ' || m.id || ' has no blob of its size'
        from message m left join blob b on b.sha256 = m.blob
       where b.sha256 is null or b.size <> m.size or (b.object is null and length(b.bytes) is distinct from m.size)
      union all
      select 'message ' || m.id || ' has its content in an object that is not in use'
        from message m join blob b on b.sha256 = m.blob
       where b.object is not null and not exists (select from blob_object o where o.name = b.object and o.state = 'used')
      union all
      select 'message ' || m.id || ' has no placement and waits for no purge' from message m
       where m.origin in ('smtp', 'local', 'append') and not exists (select from placement p where p.message_id = m.id)
         and not exists (select from unplaced_message u where u.message_id = m.id)
         and not exists (select from preserved_message u where u.message_id = m.id)
      union all
      select 'state ' || s.folder_id || '/' || s.uid || ' has a keyword its mailbox does not know: ' || k.keyword
        from placement_state s join folder f on f.id = s.folder_id, unnest(s.keywords) as k (keyword)
       where not exists (select from mail_keyword m where m.mailbox_id = f.mailbox_id and m.key = lower(k.keyword))`,
  },
  {
    rule: '5',
    text: 'Each received message has exactly one email_received, each that reached somebody one email_sent; no event has two deliveries to one endpoint',
    // Events are kept for 30 days.
    count: `
      select (select count(*) from message where origin in ('smtp', 'local') and received_at > now() - interval '29 days')
           + (select count(*) from outbound_message where first_sent_at > now() - interval '29 days') as n`,
    faults: `
      with announced as (
        select payload::jsonb #>> '{data,messageId}' as message_id, mailbox_id, count(*) as n
          from events where type = 'email_received' group by 1, 2),
      told_sent as (
        select payload::jsonb #>> '{data,messageId}' as message_id, mailbox_id, count(*) as n
          from events where type = 'email_sent' group by 1, 2)
      select 'message ' || m.id || ' has ' || coalesce(t.n, 0) || ' events' as fault
        from message m left join announced t on t.message_id = m.id and t.mailbox_id = m.mailbox_id
       where m.origin in ('smtp', 'local') and m.received_at > now() - interval '29 days' and coalesce(t.n, 0) <> 1
      union all
      select 'event of ' || t.message_id || ' has no message' from announced t
       where not exists (select from message m where m.id = t.message_id)
         and exists (select from mailbox_counter c where c.mailbox_id = t.mailbox_id)
         and not exists (select from expunged e where e.message_id = t.message_id)
      union all
      select 'sent message ' || o.id || ' has ' || coalesce(t.n, 0) || ' events'
        from outbound_message o left join told_sent t on t.message_id = o.id and t.mailbox_id = o.mailbox_id
       where coalesce(t.n, 0) <> case when o.first_sent_at is null then 0 else 1 end
         and coalesce(o.first_sent_at, o.submitted_at) > now() - interval '29 days'
      union all
      select 'message ' || o.id || ' reached ' || r.address || ' and was never sent'
        from outbound_message o join outbound_recipient r on r.message_id = o.id
       where r.status in ('sent', 'captured') and o.first_sent_at is null
      union all
      select 'event ' || d.event_id || ' is owed to ' || d.endpoint_id || ' ' || count(*) || ' times'
        from deliveries d group by d.event_id, d.endpoint_id having count(*) > 1`,
  },
  {
    rule: '6',
    text: 'MODSEQ is monotone and below its folder’s; the change log, with the decisions beside it, has no gap',
    count: `select (select count(*) from placement_state) + (select count(*) from change_log) as n`,
    faults: `
      select 'state ' || s.folder_id || '/' || s.uid || ' is above its folder' as fault
        from placement_state s join folder f on f.id = s.folder_id where s.modseq > f.modseq
      union all
      select 'tombstone ' || e.folder_id || '/' || e.uid || ' is above its folder'
        from expunged e join folder f on f.id = e.folder_id where e.modseq > f.modseq
      union all
      select 'state ' || s.folder_id || '/' || s.uid || ' has a modseq that its log does not tell of'
        from placement_state s join folder f on f.id = s.folder_id
       where s.modseq > f.pruned_modseq and not exists (
         select from change_log l where l.folder_id = s.folder_id and l.modseq = s.modseq and l.kind <> 'expunged' and l.uids @> s.uid)
      union all
      select 'tombstone ' || e.folder_id || '/' || e.uid || ' has a modseq that its log does not tell of'
        from expunged e join folder f on f.id = e.folder_id
       where f.deleted_at is null and e.modseq > f.pruned_modseq and not exists (
         select from change_log l where l.folder_id = e.folder_id and l.modseq = e.modseq and l.kind = 'expunged' and l.uids @> e.uid)
      union all
      select 'log ' || mailbox_id || ' ' || seq || ' is above its folder or out of order' from (
        select l.mailbox_id, l.seq, l.modseq, f.modseq as highest,
               lag(l.modseq) over (partition by l.folder_id order by l.seq) as before
          from change_log l join folder f on f.id = l.folder_id) as o
       where modseq > highest or modseq < before
      union all
      select 'log of ' || mailbox_id || ' has a gap before ' || seq from (
        select mailbox_id, seq, lag(seq) over (partition by mailbox_id order by seq) as before
          from (select mailbox_id, seq from change_log union all select mailbox_id, seq from decision_log) as log) as g
       where before is not null and seq <> before + 1
      union all
      select 'mailbox ' || c.mailbox_id || ' counts ' || c.change_seq || ' changes, its log ends at ' || l.last
        from mailbox_counter c join (
          select mailbox_id, max(seq) as last
            from (select mailbox_id, seq from change_log union all select mailbox_id, seq from decision_log) as log
           group by 1) l using (mailbox_id)
       where l.last <> c.change_seq`,
  },
  {
    rule: '7',
    text: 'Each assigned UID is live or expunged, never both; UIDVALIDITY values are unique in a mailbox',
    count: `select (select count(*) from expunged) + (select count(*) from folder) as n`,
    faults: `
      select 'uid ' || e.folder_id || '/' || e.uid || ' is live and expunged' as fault
        from expunged e join placement p using (folder_id, uid)
      union all
      select 'folder ' || folder_id || ' lost without a trace uids ' || lost from (
        select added.folder_id, added.uids - coalesce(known.uids, '{}') as lost
          from (select folder_id, range_agg(uids) as uids from change_log where kind = 'added' group by 1) as added
          join folder f on f.id = added.folder_id and f.deleted_at is null and f.pruned_modseq = 0
          left join (select folder_id, range_agg(int8range(uid, uid, '[]')) as uids from (
            select folder_id, uid from placement union all select folder_id, uid from expunged) as each group by 1) as known
            on known.folder_id = added.folder_id) as l
       where not isempty(lost)
      union all
      select 'mailbox ' || mailbox_id || ' has uidvalidity ' || uid_validity || ' ' || count(*) || ' times'
        from folder group by mailbox_id, uid_validity having count(*) > 1
      union all
      select 'folder ' || f.id || ' has a uidvalidity that is still to be given out'
        from folder f join mailbox_counter c using (mailbox_id) where f.uid_validity >= c.uid_validity_next`,
  },
  {
    rule: '9',
    text: 'Without approval no held message is in a folder, was attempted or reached anybody',
    count: `select count(*) as n from outbound_message where consent_id is not null`,
    faults: `
      with unapproved as (
        select o.id, o.state, o.filed, coalesce(c.status, 'lost') as consent
          from outbound_message o left join consent c on c.id = o.consent_id and c.message_id = o.id
         where o.consent_id is not null and c.status is distinct from 'approved')
      select 'message ' || id || ' is ' || state || ', its consent is ' || consent as fault
        from unapproved where state not in ('held', 'denied')
      union all
      select 'message ' || u.id || ' was attempted, its consent is ' || u.consent
        from unapproved u where exists (select from outbound_attempt a where a.message_id = u.id)
      union all
      select 'message ' || u.id || ' reached ' || r.address || ', its consent is ' || u.consent
        from unapproved u join outbound_recipient r on r.message_id = u.id where r.status in ('sent', 'captured')
      union all
      -- A client may have filed its own copy before it submitted.
      select 'message ' || u.id || ' is in folder ' || p.folder_id || ', its consent is ' || u.consent
        from unapproved u join placement p on p.message_id = u.id where not u.filed
      union all
      select 'message ' || o.id || ' is held without a request for consent'
        from outbound_message o where o.state = 'held' and o.consent_id is null
      union all
      select 'message ' || o.id || ' is in folder ' || p.folder_id || ' before its time'
        from outbound_message o join placement p on p.message_id = o.id
       where o.state in ('held', 'scheduled') and not o.filed
      union all
      select 'message ' || o.id || ' is not what was approved'
        from outbound_message o join consent c on c.id = o.consent_id where o.content_hash <> c.content_hash`,
  },
  {
    rule: '10',
    text: 'References lead to threads of their own mailbox; no row crosses mailboxes',
    count: `select (select count(*) from thread_ref) + (select count(*) from placement) as n`,
    faults: `
      select 'placement ' || p.folder_id || '/' || p.uid || ' crosses mailboxes' as fault
        from placement p join folder f on f.id = p.folder_id join message m on m.id = p.message_id
       where f.mailbox_id <> m.mailbox_id
      union all
      select 'log ' || l.mailbox_id || ' ' || l.seq || ' crosses mailboxes'
        from change_log l join folder f on f.id = l.folder_id where f.mailbox_id <> l.mailbox_id
      union all
      select 'thread ' || r.thread_id || ' belongs to another mailbox than its reference'
        from thread_ref r
       where exists (select from message m where m.thread_id = r.thread_id and m.mailbox_id <> r.mailbox_id)`,
  },
];

export interface RuleResult {
  readonly rule: string;
  readonly text: string;
  readonly checked: number;
  readonly atFault: number;
  /** Some violating rows. */
  readonly examples: readonly string[];
}

interface CheckOptions {
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
    const source = { ...sql, copyRows: db.copyRows, objects: db.objects };
    results.push(await checkContents(source, options), await checkReleased(source));
    return results;
  });
}

/** Rules 4 and 8: blobs hash to their keys, and the current indexer produces what is stored. */
async function checkContents(sql: BlobSource, { all = false }: CheckOptions): Promise<RuleResult> {
  const faults: string[] = [];
  let checked = 0;
  let after = '';
  for (;;) {
    const rows = await sql.query<{
      id: string;
      blob: Buffer;
      size: number;
      bytes: Buffer | null;
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
      const bytes = row.bytes ?? (await contentOf(sql, row.blob, row.size, row.id, faults));
      if (bytes === undefined) continue;
      const read = readStructure(bytes);
      if (!blobKey(bytes).equals(row.blob)) faults.push(`blob of ${row.id} does not hash to its key`);
      if (row.text_status === 'due' || row.text_status === 'failed') continue; // read by an earlier version, or not at all
      if (!read.envelope.equals(row.envelope)) faults.push(`ENVELOPE of ${row.id} differs`);
      if (!read.bodyStructure.equals(row.bodystructure)) faults.push(`BODYSTRUCTURE of ${row.id} differs`);
      if (!sameTree(read.parts, row.parts)) faults.push(`offset tree of ${row.id} differs`);
      const listed = listedHeader(bytes, row.parts);
      const same =
        row.header_lines.every((lines) => lines.equals(listed.lines)) &&
        row.long_header_lines.every((lines) => lines.equals(listed.longLines)) &&
        row.envelope_texts.every((text) => text === listed.envelopeText);
      if (!same) faults.push(`header lines of ${row.id} differ`);
      if (!nests(row.parts, 0, bytes.length)) faults.push(`offsets of ${row.id} do not nest`);
    }
    if (!all || rows.length < PAGE) break;
  }
  const text =
    'Blobs hash to their keys; stored ENVELOPE, BODYSTRUCTURE, offsets and header lines are what the indexer makes today';
  return { rule: '8', text, checked, atFault: faults.length, examples: faults.slice(0, EXAMPLES) };
}

/** From the object storage. @returns undefined: it is not there as it should be, which is noted */
async function contentOf(
  source: BlobSource,
  blob: Buffer,
  size: number,
  id: string,
  faults: string[],
): Promise<Buffer | undefined> {
  try {
    return await readBlob(source, blob, 0, size);
  } catch (error) {
    faults.push(`content of ${id}: ${reasonOf(error)}`);
    return undefined;
  }
}

/** Rule 9: bytes and recipients of released messages are those that were approved. */
async function checkReleased(sql: BlobSource): Promise<RuleResult> {
  const rows = await sql.query<{
    id: string;
    hash: Buffer;
    blob: Buffer;
    size: number;
    bytes: Buffer | null;
    recipients: string[];
  }>(RELEASED, [SAMPLE_MESSAGES]);
  const faults: string[] = [];
  for (const row of rows) {
    const bytes = row.bytes ?? (await contentOf(sql, row.blob, row.size, row.id, faults));
    if (bytes !== undefined && !hashContent(bytes, row.recipients).equals(row.hash))
      faults.push(`message ${row.id} was released and differs from what was approved`);
  }
  const text = 'Bytes and recipients of released messages hash to what was approved';
  return { rule: '9', text, checked: rows.length, atFault: faults.length, examples: faults.slice(0, EXAMPLES) };
}

const RELEASED = `
  select o.id, c.content_hash as hash, b.sha256 as blob, b.size, b.bytes,
         array(select r.address from outbound_recipient r where r.message_id = o.id) as recipients
    from outbound_message o join consent c on c.id = o.consent_id join blob b on b.sha256 = o.blob
   where c.status = 'approved' and o.state in ('sending', 'done') order by md5(o.id) limit $1`;

const INDEXED = 'from placement p where p.message_id = m.id and p.header_lines is not null';
const CONTENT_COLUMNS = `m.id, m.blob, b.size, b.bytes, m.envelope, m.bodystructure, m.parts, m.text_status,
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
