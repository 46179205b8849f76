/**
 * Decisions about held mail in the order of all changes of a mailbox, so that its stream can be resumed after any of
 * them. Their numbers come from the same sequence as changes of mail (`change_seq`), under the lock of the counter.
 */

import { announceMailboxAccess } from '#core/mailboxes/mailbox-access.ts';
import type { Sql } from '#db/database.ts';
import type { ConsentRow } from './consent-queries.ts';

/**
 * Call it at the end of the transaction of the decisions: folders must be locked before. Watchers of the mailboxes are
 * notified with the commit.
 */
export async function logDecisions(sql: Sql, consents: readonly Pick<ConsentRow, 'id' | 'mailboxId'>[]): Promise<void> {
  if (consents.length === 0) return;
  const mailboxIds = [...new Set(consents.map(({ mailboxId }) => mailboxId))];
  await sql.query(
    `select from mailbox_counter where mailbox_id = any($1::text[]) order by mailbox_id for no key update`,
    [mailboxIds],
  );
  await sql.query(LOG, [consents.map(({ id }) => id), consents.map(({ mailboxId }) => mailboxId)]);
  await announceMailboxAccess(sql, ...mailboxIds);
}

const LOG = `
  with given as (
    select consent_id, mailbox_id, row_number() over (partition by mailbox_id order by consent_id) as place
      from unnest($1::text[], $2::text[]) as g (consent_id, mailbox_id)
  ), counted as (
    update mailbox_counter c set change_seq = c.change_seq + n.n
      from (select mailbox_id, count(*) as n from given group by mailbox_id) as n
     where c.mailbox_id = n.mailbox_id
    returning c.mailbox_id, c.change_seq - n.n as before
  )
  insert into decision_log (mailbox_id, seq, consent_id)
  select g.mailbox_id, c.before + g.place, g.consent_id from given g join counted c on c.mailbox_id = g.mailbox_id`;
