/**
 * Retention of mail: removes messages from the folders of mailboxes whose rule, or that of their organization, says so.
 * Clients see it as an expunge by another client; the content follows an hour later (`purge.ts`).
 *
 * No message is looked at that is not removed, but one of each folder: the messages of a mailbox are ordered by their ids,
 * which are times, and those of a folder by their UIDs, in the order in which they came into it.
 */
import type { Services } from '#core/platform/process/services.ts';
import type { Database } from '#db/database.ts';
import type { Portion } from '#db/delete-portion.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import { lockFolders } from '#mailstore/folders/lock-folders.ts';
import { removePlacements } from '#mailstore/folders/placements.ts';
import { unplaceMessages } from '#mailstore/folders/unplace-messages.ts';

const DAY_MS = 86_400_000;
/** Mailboxes whose rules are read at once. */
const PORTION_MAILBOXES = 200;
/** Their folders are locked meanwhile. */
const PORTION_MESSAGES = 200;

interface RuleRow {
  readonly id: string;
  readonly rule: Partial<MailRetention>;
}

/** What is past its time now. */
interface Due {
  readonly mailboxId: string;
  /** Messages with a smaller id; null: none. */
  readonly before: string | null;
  readonly folders: readonly { readonly id: number; readonly before: Date }[];
}

/**
 * A portion of the mailboxes, or of the messages of one.
 *
 * @param after of the portion before: a mailbox, or a mailbox and a message of it, separated by a space
 */
export async function removeOldMail({ db, now }: Pick<Services, 'db' | 'now'>, after: string): Promise<Portion> {
  const [from = '', fromMessage] = after.split(' ');
  const rules = await db.query<RuleRow>(RULES, [from, fromMessage !== undefined, PORTION_MAILBOXES]);
  let done = 0;
  for (const due of await dueOf(db, rules, now())) {
    for (const folder of due.folders) {
      const removed = await removeFromFolder(db, due.mailboxId, folder);
      done += removed;
      // The part before it is empty the next time.
      if (removed === PORTION_MESSAGES) return { done, more: true, after: `${due.mailboxId} ` };
    }
    if (due.before === null) continue;
    const messages = await removeMessages(
      db,
      due.mailboxId,
      due.mailboxId === from ? (fromMessage ?? '') : '',
      due.before,
    );
    done += messages.length;
    if (messages.length === PORTION_MESSAGES)
      return { done, more: true, after: `${due.mailboxId} ${messages.at(-1) ?? ''}` };
  }
  const last = rules.at(-1)?.id;
  return { done, more: rules.length === PORTION_MAILBOXES, ...(last === undefined ? {} : { after: last }) };
}

/** Rules of mailboxes that may lose mail now. */
const RULES = `
  select * from (
    select x.id, coalesce(x.retention, nullif(o.settings -> 'retention', 'null')) as rule
      from mailboxes x join organizations o on o.id = x.organization_id
     where x.id >= $1 and ($2::bool or x.id > $1) and x.deleted_at is null) as of_mailbox
   where rule is not null and not ${onHold('of_mailbox.id')}
   order by id limit $3`;

async function dueOf(db: Database, rules: readonly RuleRow[], nowMs: number): Promise<Due[]> {
  if (rules.length === 0) return [];
  const timeOf = (days: number | null | undefined): Date | null =>
    typeof days === 'number' ? new Date(nowMs - days * DAY_MS) : null;
  const cuts = rules.map(({ id, rule }) => ({
    id,
    all: timeOf(rule.allMailDays),
    trash: timeOf(rule.trashDays),
    spam: timeOf(rule.spamDays),
  }));
  const rows = await db.query<{ id: string; before: string | null; folders: { id: number; before: string }[] | null }>(
    DUE,
    [
      cuts.map(({ id }) => id),
      cuts.map(({ all }) => (all === null ? null : firstIdAt('message', all.getTime()))),
      cuts.map(({ trash }) => trash),
      cuts.map(({ spam }) => spam),
    ],
  );
  return rows.map(({ id, before, folders }) => ({
    mailboxId: id,
    before,
    folders: (folders ?? []).map((folder) => ({ id: folder.id, before: new Date(folder.before) })),
  }));
}

/**
 * The oldest message of each mailbox, and the first of its trash and Junk. Pairs are compared, here and below, so that only
 * the index by mailbox can answer: for a mailbox with much of all mail PostgreSQL would read the messages of others by the
 * primary key.
 */
const DUE = `
  select r.id, old.before, folders.folders
    from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[]) as r (id, before, trash, spam)
    left join lateral (
      select r.before from (
        select m.mailbox_id, m.id from message m where (m.mailbox_id, m.id) > (r.id, '')
         order by m.mailbox_id, m.id limit 1) oldest
       where oldest.mailbox_id = r.id and oldest.id < r.before) old on true
    left join lateral (
      select json_agg(json_build_object('id', f.id, 'before', c.before) order by f.id) as folders
        from folder f
       cross join lateral (select case f.special_use when '\\Trash' then r.trash else r.spam end as before) c
       cross join lateral (select save_date from placement where folder_id = f.id order by uid limit 1) first
       where f.mailbox_id = r.id and f.special_use in ('\\Trash', '\\Junk') and f.deleted_at is null
         and first.save_date < c.before) folders on true
   where old.before is not null or folders.folders is not null
   order by r.id`;

/** Whether a hold began since the rules were read. */
const IS_HELD = `select ${onHold('$1')} as held`;

async function removeFromFolder(
  db: Database,
  mailboxId: string,
  { id, before }: { readonly id: number; readonly before: Date },
): Promise<number> {
  return db.transaction(async (sql) => {
    await holdsStay(sql);
    const [hold] = await sql.query<{ held: boolean }>(IS_HELD, [mailboxId]);
    if (hold?.held !== false) return 0;
    const locked = await lockFolders(sql, mailboxId, [id]);
    const rows = await sql.query<{ uid: number }>(FIRST_OF_FOLDER, [id, PORTION_MESSAGES, before]);
    const removed = await removePlacements(
      sql,
      locked,
      id,
      rows.map(({ uid }) => uid),
      { onlyDeleted: false, purge: true },
    );
    return removed.length;
  });
}

const FIRST_OF_FOLDER = `
  select uid from (select uid, save_date from placement where folder_id = $1 order by uid limit $2) as first
   where save_date < $3 order by uid`;

/** @returns their ids */
async function removeMessages(db: Database, mailboxId: string, after: string, before: string): Promise<string[]> {
  return db.transaction(async (sql) => {
    await holdsStay(sql);
    const [hold] = await sql.query<{ held: boolean }>(IS_HELD, [mailboxId]);
    if (hold?.held !== false) return [];
    const rows = await sql.query<{ id: string }>(OLDEST, [mailboxId, after, before, PORTION_MESSAGES]);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await unplaceMessages(sql, mailboxId, ids);
    return ids;
  });
}

const OLDEST = `
  select id from message where (mailbox_id, id) > ($1, $2) and (mailbox_id, id) < ($1, $3)
   order by mailbox_id, id limit $4`;
