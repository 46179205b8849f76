import type { Sql } from '#db/database.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

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
