/**
 * The last use of a mailbox by each protocol, and of each token by any ("does my agent connect?"), and the announcement
 * that its access has changed.
 */

import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { noteChange } from '#db/queries/organizations/note-change.ts';

/** NOTIFY channel about mail and access to it; see `mailstore/changes/notifier.ts` for its messages. */
export const MAIL_CHANGES_CHANNEL = 'mail_changes';

/**
 * Notifies every process that access to mailboxes may have ended: a token was rotated or revoked, one was suspended or
 * deleted, or its group changed. They read the rows and close connections and streams that lost their access. Call it
 * within the transaction of the change: the notification is sent with the commit.
 */
export async function announceMailboxAccess(sql: Sql, ...mailboxIds: readonly string[]): Promise<void> {
  await sql.query(`select pg_notify($1, ';mailbox ' || id) from unnest($2::text[]) as id`, [
    MAIL_CHANGES_CHANNEL,
    mailboxIds,
  ]);
}

/** As `announceMailboxAccess`, about all mailboxes that an API key opens: its groups, scopes or expiry changed, or it ended. */
export async function announceKeyAccess(sql: Sql, keyId: string): Promise<void> {
  await sql.query(`select pg_notify($1, $2)`, [MAIL_CHANGES_CHANNEL, `;key ${keyId}`]);
}

/** `smtp` is submission; the CLI, the clients and MCP use `api`. */
export const LOGIN_PROTOCOLS = ['api', 'imap', 'pop3', 'smtp'] as const;
type LoginProtocol = (typeof LOGIN_PROTOCOLS)[number];

export interface MailboxLogin {
  readonly protocol: LoginProtocol;
  readonly usedAt: Date;
}

/** A use is written at most this often for each token and protocol of a process. */
const NOTED_EVERY_MS = 60_000;
const REMEMBERED_MAX = 50_000;

/** Times of the last writes, by database: a process has one, tests have several. */
const written = new WeakMap<object, Map<string, number>>();

/** Records a use without delaying the caller. If the write fails, a later use is recorded. */
export function noteLogin(
  services: Pick<Services, 'db' | 'log' | 'now'>,
  { mailboxId, tokenId }: { readonly mailboxId: string; readonly tokenId: string },
  protocol: LoginProtocol,
): void {
  const { db, log } = services;
  const nowMs = services.now();
  const times = written.get(db) ?? new Map<string, number>();
  written.set(db, times);
  const key = `${protocol} ${tokenId}`;
  if (nowMs - (times.get(key) ?? 0) < NOTED_EVERY_MS) return;
  if (times.size >= REMEMBERED_MAX) times.clear();
  times.set(key, nowMs);
  db.query(
    `with noted as (
       update mailbox_token set last_used_at = greatest(last_used_at, $3) where id = $4
     ), used as (
       insert into mailbox_login (mailbox_id, protocol, used_at)
       select id, $2, $3 from mailboxes where id = $1
       on conflict (mailbox_id, protocol) do update set used_at = greatest(mailbox_login.used_at, excluded.used_at)
       returning mailbox_id, xmax = 0 as is_first
     ), connected as (
       select m.organization_id, m.id from used u join mailboxes m on m.id = u.mailbox_id where u.is_first
     ) ${noteChange('login', 'connected', 'id')}`,
    [mailboxId, protocol, new Date(nowMs), tokenId],
  ).catch((error: Error) => {
    times.delete(key);
    log.debug({ error: error.message }, 'a login was not recorded');
  });
}

/** The last use on each protocol that was used, newest first. */
export async function mailboxLogins(sql: Sql, organizationId: string, mailboxId: string): Promise<MailboxLogin[]> {
  const rows = await sql.query<{ protocol: LoginProtocol; used_at: Date }>(
    `select l.protocol, l.used_at from mailbox_login l join mailboxes x on x.id = l.mailbox_id
      where x.organization_id = $1 and x.id = $2 order by l.used_at desc`,
    [organizationId, mailboxId],
  );
  return rows.map(({ protocol, used_at: usedAt }) => ({ protocol, usedAt }));
}
