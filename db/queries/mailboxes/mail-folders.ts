import type { Sql } from '#db/database.ts';

/** A mailbox that is being created, and its quota in bytes. */
export interface NewMailFolders {
  readonly mailboxId: string;
  readonly quotaBytes: number;
}

/**
 * Creates the six folders of mailboxes and their counters. Call it in the transaction that creates them; mailboxes that
 * it did not create are passed over. It is one statement, because mailbox creation must be fast.
 *
 * UIDVALIDITY values are seeded with epoch seconds and used once each, so a recreated name never repeats a pair of
 * UIDVALIDITY and UID (RFC 9051 §2.3.1.1).
 */
export async function createMailFoldersOfAll(sql: Sql, mailboxes: readonly NewMailFolders[]): Promise<void> {
  await sql.query(CREATE_MAIL_FOLDERS, [
    mailboxes.map(({ mailboxId }) => mailboxId),
    mailboxes.map(({ quotaBytes }) => quotaBytes),
  ]);
}

/** As `createMailFoldersOfAll`, for one mailbox. */
export const createMailFolders = (sql: Sql, mailboxId: string, quotaBytes: number): Promise<void> =>
  createMailFoldersOfAll(sql, [{ mailboxId, quotaBytes }]);

const CREATE_MAIL_FOLDERS = /* sql */ `
  with counter as (
    insert into mailbox_counter (mailbox_id, quota_bytes, uid_validity_next)
    select i.mailbox_id, i.quota_bytes, extract(epoch from now())::bigint + 6
      from unnest($1::text[], $2::bigint[]) as i(mailbox_id, quota_bytes)
      join mailboxes m on m.id = i.mailbox_id and m.id = any($1::text[])
    returning mailbox_id, uid_validity_next - 6 as uid_validity
  )
  insert into folder (mailbox_id, name, name_key, special_use, uid_validity)
  select counter.mailbox_id, made.name, lower(made.name), made.special_use, counter.uid_validity + made.number
    from counter, (values
      (0, 'INBOX', '\\Inbox'), (1, 'Sent', '\\Sent'), (2, 'Drafts', '\\Drafts'),
      (3, 'Archive', '\\Archive'), (4, 'Junk', '\\Junk'), (5, 'Trash', '\\Trash')
    ) as made (number, name, special_use)
   order by counter.mailbox_id, made.number`;
