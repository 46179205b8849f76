/** The change log of a mailbox as REST tells it: which messages came into, changed in or left which folder. */
import type { Sql } from '../../db/database.ts';

export type ChangeKind = 'added' | 'flags' | 'expunged';

export interface MailChange {
  /** `change_seq`: the place in the order of all changes of the mailbox. */
  readonly seq: number;
  readonly kind: ChangeKind;
  /** Name of the folder; null when it is deleted and forgotten. */
  readonly folder: string | null;
  readonly occurredAt: Date;
  /** Messages it is about, ascending UIDs, each once. Those purged for good by now are left out. */
  readonly messageIds: readonly string[];
}

/**
 * Changes after one, oldest first.
 *
 * @param after seq of the last one known
 */
export const changesAfter = (sql: Sql, mailboxId: string, after: number, limit: number): Promise<MailChange[]> =>
  sql.query<MailChange>(CHANGES, [mailboxId, after, limit]);

/** What is between the last change known and the present; 'too-old': the log does not reach back so far. */
export async function changesKept(sql: Sql, mailboxId: string, after: number): Promise<'kept' | 'too-old'> {
  const [row] = await sql.query<{ seq: number; first: number | null }>(
    `select change_seq as seq, (select min(l.seq) from change_log l where l.mailbox_id = c.mailbox_id) as first
       from mailbox_counter c where mailbox_id = $1`,
    [mailboxId],
  );
  const seq = row?.seq ?? 0;
  const first = row?.first ?? seq + 1;
  return after <= seq && after >= first - 1 ? 'kept' : 'too-old';
}

/** A UID is either placed or expunged, so both are looked at whatever the kind. */
const CHANGES = `
  select l.seq, l.kind, f.name as folder, l.created_at as "occurredAt",
         array(select found.message_id from (
                 select p.message_id, p.uid from placement p where p.folder_id = l.folder_id and l.uids @> p.uid
                    and p.uid between lower(l.uids) and upper(l.uids)
                 union all
                 select e.message_id, e.uid from expunged e where e.folder_id = l.folder_id and l.uids @> e.uid
                    and e.uid between lower(l.uids) and upper(l.uids)) as found
                group by found.message_id order by min(found.uid)) as "messageIds"
    from change_log l left join folder f on f.id = l.folder_id
   where l.mailbox_id = $1 and l.seq > $2 order by l.seq limit $3`;
