/** Where people reach the pages of this service, for the links of notices. */
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';

/**
 * API_PUBLIC_URL, else the address an API process has noted.
 *
 * @returns without a slash at the end
 */
export async function publicAddress({
  db,
  settings,
}: {
  readonly db: Sql;
  readonly settings: Settings;
}): Promise<string> {
  if (settings.API_PUBLIC_URL !== undefined) return settings.API_PUBLIC_URL.replace(/\/+$/, '');
  const [row] = await db.query<{ url: string }>(`select url from public_address`);
  return row?.url ?? `http://localhost:${settings.API_PORT}`;
}

/** Notes the address of an API process, for those that write notices. */
export async function notePublicAddress(sql: Sql, url: string): Promise<void> {
  await sql.query(
    `insert into public_address (url) values ($1)
     on conflict (is_only) do update set url = excluded.url where public_address.url <> excluded.url`,
    [url],
  );
}
