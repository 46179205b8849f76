/**
 * Stores what mail says (`carried-mail.ts`) in the background, newest first: of each new message soon after it was stored,
 * and of all mail that an earlier version stored. One process of the installation does it at a time. Nothing depends on its
 * speed: a check reads the newest of the waiting messages itself.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { SharedPortions } from '#core/platform/process/shared-turns.ts';
import type { Database } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { storeCarriedMails } from './carried-mail.ts';

const BATCH = 20;
/** Mail of earlier versions, below an id that falls. The setting is gone when there is none. */
const TO_READ_BELOW = 'CARRIED_MAIL_TO_READ_BELOW';
const FILL_AT_ONCE = 1_000;
/** Mail of which an earlier version kept less: it is found already, so few wait at a time, which checks would read. */
const TO_READ_AGAIN_BELOW = 'CARRIED_MAIL_TO_READ_AGAIN_BELOW';
const FILL_AGAIN_AT_ONCE = 100;

export const CARRIED_MAIL_INDEX: SharedPortions = {
  name: 'carried mail',
  anyDue: `
    select exists (select from carried_due)
        or exists (select from installation_setting where name in ('${TO_READ_BELOW}', '${TO_READ_AGAIN_BELOW}')) as due`,
  lookMs: 1_000,
  pauseMs: 50,
  lostAfterMs: 60_000,
  async work({ db, log }, goesOn) {
    let done = 0;
    while (goesOn()) {
      const rows = await db.query<{ message_id: string; organization_id: string }>(NEXT, [BATCH]);
      if (rows.length === 0) {
        // Only then: what is waited for in checks is new mail.
        const [filled] = await db.query<{ count: number }>(fill(NOT_READ), [TO_READ_BELOW, FILL_AT_ONCE]);
        if ((filled?.count ?? 0) > 0) continue;
        const [again] = await db.query<{ count: number }>(fill(''), [TO_READ_AGAIN_BELOW, FILL_AGAIN_AT_ONCE]);
        if ((again?.count ?? 0) === 0) break;
        continue;
      }
      for (const [organizationId, group] of Map.groupBy(rows, (row) => row.organization_id))
        await storeOrSkip(
          db,
          log,
          organizationId,
          group.map((row) => row.message_id),
        );
      done += rows.length;
    }
    return done;
  },
};

/** A message that cannot be stored, for whatever reason, must not block all others. */
async function storeOrSkip(db: Database, log: Logger, organizationId: string, ids: readonly string[]): Promise<void> {
  try {
    await storeCarriedMails(db, organizationId, ids);
  } catch (error) {
    if (isInfrastructureError(error)) throw error;
    if (ids.length > 1) {
      for (const id of ids) await storeOrSkip(db, log, organizationId, [id]);
      return;
    }
    log.error({ messageIds: ids, error: String(error) }, 'what these messages say could not be stored');
    await db.query(`delete from carried_due where message_id = any($1::text[])`, [ids]);
  }
}

const NOT_READ = 'and not exists (select from carried_mail c where c.message_id = p.id)';

const fill = (condition: string): string => `
  with page as materialized (
    select m.id, m.mailbox_id, m.origin from message m
     where m.id < (select value from installation_setting where name = $1) order by m.id desc limit $2
  ), noted as (
    insert into carried_due (message_id, organization_id)
    select p.id, x.organization_id from page p join mailboxes x on x.id = p.mailbox_id
     where p.origin in ('smtp', 'local', 'submission', 'append') ${condition}
    on conflict do nothing
  ), moved as (
    update installation_setting set value = (select min(id) from page) where name = $1 and exists (select from page)
  ), ended as (
    delete from installation_setting where name = $1 and not exists (select from page)
  )
  select count(*)::int as count from page`;

const NEXT = `select message_id, organization_id from carried_due order by message_id desc limit $1`;
