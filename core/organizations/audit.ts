import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

/** An entry of the audit log. Never put secrets into `details`. */
interface NewAuditEntry {
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

export interface AuditEntryView {
  readonly id: string;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly ipAddress: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
}

export interface AuditFilter {
  readonly action?: AuditAction;
  readonly actorId?: string;
  readonly targetId?: string;
  /** From this time on. */
  readonly since?: Date;
  /** Before this time. */
  readonly until?: Date;
}

const LIST = /* sql */ `
  select id, actor, action, target_id as "targetId", details, ip_address as "ipAddress", request_id as "requestId",
         created_at as "createdAt"
    from audit_entries
   where organization_id = $1 and ($2::text is null or id < $2)
     and ($3::text is null or action = $3)
     and ($4::text is null or actor ->> 'id' = $4)
     and ($5::text is null or target_id = $5)
     and ($6::timestamptz is null or created_at >= $6)
     and ($7::timestamptz is null or created_at < $7)
   order by id desc limit $8`;

/** Newest first; one more than `limit`. */
export const listAudit = (
  sql: Sql,
  organizationId: string,
  filter: AuditFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<AuditEntryView[]> =>
  sql.query<AuditEntryView>(LIST, [
    organizationId,
    page.after,
    filter.action ?? null,
    filter.actorId ?? null,
    filter.targetId ?? null,
    filter.since ?? null,
    filter.until ?? null,
    page.limit + 1,
  ]);
