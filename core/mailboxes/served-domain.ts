import type { Sql } from '#db/database.ts';

/** Whether mail for a domain belongs to this instance: its own domain, or a verified one of an organization. */
export async function isServedDomain(sql: Sql, defaultDomain: string, domain: string): Promise<boolean> {
  const name = domain.toLowerCase();
  if (name === defaultDomain.toLowerCase()) return true;
  const rows = await sql.query(`select 1 from domains where name = $1 and status = 'verified'`, [name]);
  return rows.length > 0;
}
