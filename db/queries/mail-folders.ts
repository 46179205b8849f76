import type { Sql } from '../database.ts';

/**
 * Makes what a mailbox needs to hold mail: its six folders and its counters. Call it in the transaction that creates
 * the mailbox; it is one statement, because mailbox creation is a hot path.
 *
 * UIDVALIDITY values are seeded with epoch seconds and handed out once each, so a recreated name never meets an old
 * pair of UIDVALIDITY and UID (RFC 9051 §2.3.1.1).
 */
export async function createMailFolders(sql: Sql, mailboxId: string, quotaBytes: number): Promise<void> {
  await sql.query(CREATE_MAIL_FOLDERS, [mailboxId, quotaBytes]);
}

const CREATE_MAIL_FOLDERS = `
  with counter as (
    insert into mailbox_counter (mailbox_id, quota_bytes, uid_validity_next)
    values ($1::text, $2::bigint, extract(epoch from now())::bigint + 6)
    returning uid_validity_next - 6 as uid_validity
  )
  insert into folder (mailbox_id, name, name_key, special_use, uid_validity)
  select $1::text, made.name, lower(made.name), made.special_use, counter.uid_validity + made.number
    from counter, (values
      (0, 'INBOX', '\\Inbox'), (1, 'Sent', '\\Sent'), (2, 'Drafts', '\\Drafts'),
      (3, 'Archive', '\\Archive'), (4, 'Junk', '\\Junk'), (5, 'Trash', '\\Trash')
    ) as made (number, name, special_use)
   order by made.number`;
