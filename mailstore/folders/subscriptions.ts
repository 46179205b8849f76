/** Names a mailbox subscribes to. They may name folders that do not exist (RFC 9051 §6.3.7). */
import type { Sql } from '#db/database.ts';
import { newFolderName } from './folder-name.ts';

/** The six folders of creation are subscribed without a row. */
export async function listSubscriptions(sql: Sql, mailboxId: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(LIST_SUBSCRIPTIONS, [mailboxId]);
  return rows.map(({ name }) => name);
}

/** @throws {StoreRefused} cannot, limit */
export async function subscribe(sql: Sql, mailboxId: string, given: string, subscribed: boolean): Promise<void> {
  const { name, key } = newFolderName(given);
  await sql.query(SUBSCRIBE, [mailboxId, key, name, subscribed]);
}

const LIST_SUBSCRIPTIONS = `
  select coalesce(f.name, s.name) as name
    from (select name, name_key, special_use from folder where mailbox_id = $1 and deleted_at is null) as f
    full join (select name, name_key, subscribed from subscription where mailbox_id = $1) as s using (name_key)
   where coalesce(s.subscribed, f.special_use is not null)
   order by 1`;

const SUBSCRIBE = `
  insert into subscription (mailbox_id, name_key, name, subscribed) values ($1, $2, $3, $4)
  on conflict (mailbox_id, name_key) do update set name = excluded.name, subscribed = excluded.subscribed`;
