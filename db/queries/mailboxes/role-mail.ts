/** Mail to role addresses, stored once for all owners who get it. */
import type { Sql } from '#db/database.ts';
import type { SuspendedReceive } from '#domain/organizations/suspension.ts';

export interface RoleOrganization {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly suspendedReceive: SuspendedReceive | null;
}

/**
 * Whose owners get the mail of a domain's roles: those of the organization that owns it; of the default domain, those of
 * the first organization, which is the instance's. None where a mailbox has the address, or nobody owns the organization.
 *
 * @param mailboxAddress the address without plus-tag
 */
export async function findRoleOrganization(
  sql: Sql,
  defaultDomain: string,
  domain: string,
  mailboxAddress: string,
): Promise<RoleOrganization | undefined> {
  const [row] = await sql.query<RoleOrganization>(
    `select o.id as "organizationId", o.name as "organizationName",
            o.suspended_receive as "suspendedReceive" from organizations o
      where o.id = case when $1 = $2 then (select id from organizations order by created_at, id limit 1)
                        else (select organization_id from domains where name = $2 and status = 'verified') end
        and exists (select from members where organization_id = o.id and role = 'owner')
        and not exists (select from mailboxes where address = $3 and deleted_at is null)`,
    [defaultDomain.toLowerCase(), domain, mailboxAddress],
  );
  return row;
}

/** Addresses of an organization's owners. */
export async function ownerAddresses(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `select u.email from members m join users u on u.id = m.user_id
      where m.organization_id = $1 and m.role = 'owner' order by u.email`,
    [organizationId],
  );
  return rows.map(({ email }) => email);
}

/** @returns the number of messages of an organization stored since then */
export async function countRoleMail(sql: Sql, organizationId: string, since: Date): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) from role_mail where organization_id = $1 and created_at > $2`,
    [organizationId, since],
  );
  return row?.count ?? 0;
}

/** @returns whether it was stored; false: it was stored before */
export async function insertRoleMail(
  sql: Sql,
  mail: {
    readonly id: string;
    readonly organizationId: string;
    readonly address: string;
    readonly contentHash: Buffer;
    readonly bytes: Buffer;
    readonly now: Date;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into role_mail (id, organization_id, address, content_hash, bytes, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id`,
    [mail.id, mail.organizationId, mail.address, mail.contentHash, mail.bytes, mail.now],
  );
  return rows.length > 0;
}

export async function findRoleMail(sql: Sql, id: string): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ bytes: Buffer }>(`select bytes from role_mail where id = $1`, [id]);
  return row?.bytes;
}
