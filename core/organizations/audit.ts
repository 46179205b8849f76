import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';

/** An entry of the audit log. Never put secrets into `details`. */
export interface NewAuditEntry {
  readonly organizationId: string;
  readonly action: AuditAction;
  /** Id of the row it happened to. */
  readonly targetId: string | null;
  /** Details for a reader of the log, e.g. the names of the changed fields. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const INSERT = /* sql */ `
  insert into audit_entries (id, organization_id, actor, action, target_id, details, ip_address, request_id, created_at)
  select e.id, e.organization_id, e.actor, e.action, e.target_id, e.details, e.ip_address, e.request_id, now()
    from unnest($1::text[], $2::text[], $3::jsonb[], $4::text[], $5::text[], $6::jsonb[], $7::text[], $8::text[])
      as e(id, organization_id, actor, action, target_id, details, ip_address, request_id)`;

/** Writes an entry of the audit log. Call it in the transaction of the change. */
export const recordAudit = (sql: Sql, caller: Caller, entry: NewAuditEntry): Promise<void> =>
  recordAudits(sql, [{ caller, entry }]);

/** Several entries in one round trip. */
export async function recordAudits(
  sql: Sql,
  entries: readonly { readonly caller: Caller; readonly entry: NewAuditEntry }[],
): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(INSERT, [
    entries.map(() => newId('audit')),
    entries.map(({ entry }) => entry.organizationId),
    entries.map(({ caller }) => JSON.stringify(caller.actor)),
    entries.map(({ entry }) => entry.action),
    entries.map(({ entry }) => entry.targetId),
    entries.map(({ caller, entry }) =>
      JSON.stringify({ ...entry.details, ...(caller.via === undefined ? {} : { via: caller.via }) }),
    ),
    entries.map(({ caller }) => caller.ipAddress),
    entries.map(({ caller }) => caller.requestId),
  ]);
}
