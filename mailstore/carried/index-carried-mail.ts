/**
 * Stores what mail says (`carried-mail.ts`) in the background, newest first: of each new message soon after it was stored,
 * and of all mail that an earlier version stored. One process of the installation does it at a time. Nothing depends on its
 * speed: a check reads the newest of the waiting messages itself.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { Database } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { storeCarriedMails } from './carried-mail.ts';

interface CarriedMailIndexer {
  /** Resolves when the current messages are done. */
  close(): Promise<void>;
}

const BATCH = 20;
const PORTION_MS = 5_000;
/** Between portions, and between looks when nothing waits. */
const PAUSE_MS = 50;
const LOOK_MS = 1_000;
/** Another process continues this long after one that died. */
const TURN_LOST_AFTER_SECONDS = 60;

export function startCarriedMailIndexer(db: Database, log: Logger): CarriedMailIndexer {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(delayMs: number): void {
    if (closed) return;
    timer = setTimeout(() => {
      running = indexPortion(db, log, () => closed)
        .catch((error: Error) => {
          log.debug({ error: error.message }, 'reading what stored mail says failed; trying again');
          return 0;
        })
        .then((done) => schedule(done > 0 ? PAUSE_MS : LOOK_MS));
    }, delayMs);
    timer.unref();
  }

  schedule(LOOK_MS);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Processes one portion, unless another process does so.
 *
 * @returns messages done; 0 does not mean that no other process is working
 */
export async function indexPortion(db: Database, log: Logger, isClosed: () => boolean = () => false): Promise<number> {
  const [look] = await db.query<{ due: boolean }>(
    `select exists (select from carried_due) or exists (select from installation_setting where name = $1) as due`,
    [TO_READ_BELOW],
  );
  if (look?.due !== true || (await db.query(TAKE_TURN, [TURN_LOST_AFTER_SECONDS])).length === 0) return 0;
  try {
    const until = performance.now() + PORTION_MS;
    let done = 0;
    while (!isClosed() && performance.now() < until) {
      const rows = await db.query<{ message_id: string; organization_id: string }>(NEXT, [BATCH]);
      if (rows.length === 0) {
        // Only then: what is waited for in checks is new mail.
        const [filled] = await db.query<{ count: number }>(FILL, [TO_READ_BELOW, FILL_AT_ONCE]);
        if ((filled?.count ?? 0) === 0) break;
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
  } finally {
    await db.query(END_TURN);
  }
}

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

/** Mail of earlier versions, below an id that falls. The setting is gone when there is none. */
const TO_READ_BELOW = 'CARRIED_MAIL_TO_READ_BELOW';
const FILL_AT_ONCE = 1_000;
const FILL = `
  with page as materialized (
    select m.id, m.mailbox_id, m.origin from message m
     where m.id < (select value from installation_setting where name = $1) order by m.id desc limit $2
  ), noted as (
    insert into carried_due (message_id, organization_id)
    select p.id, x.organization_id from page p join mailboxes x on x.id = p.mailbox_id
     where p.origin in ('smtp', 'local', 'submission', 'append')
       and not exists (select from carried_mail c where c.message_id = p.id)
    on conflict do nothing
  ), moved as (
    update installation_setting set value = (select min(id) from page) where name = $1 and exists (select from page)
  ), ended as (
    delete from installation_setting where name = $1 and not exists (select from page)
  )
  select count(*)::int as count from page`;

const NEXT = `select message_id, organization_id from carried_due order by message_id desc limit $1`;

const TAKE_TURN = `
  insert into sweeps (name, next_at) values ('carried mail', now() + make_interval(secs => $1))
  on conflict (name) do update set next_at = excluded.next_at where sweeps.next_at <= now()
  returning 1`;

const END_TURN = `update sweeps set next_at = now() where name = 'carried mail'`;
