import { organizationsOf } from '#core/accounts/sessions.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';

export interface FactorPerson {
  readonly id: string;
  readonly email: string;
}

interface FactorChange {
  readonly action: AuditAction;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly subject: string;
  /** One sentence about what happened. */
  readonly what: string;
}

/**
 * Records a change of a second factor in the audit log of each organization of the person, and writes a notice to the
 * person, in the transaction of the change. Send the notice after the commit.
 */
export async function recordFactorChange(
  { now }: Pick<Services, 'now'>,
  sql: Sql,
  person: FactorPerson,
  caller: Caller,
  { action, details = {}, subject, what }: FactorChange,
): Promise<NewMemberNotice[]> {
  const organizations = await organizationsOf(sql, person.id);
  await recordAudits(
    sql,
    organizations.map(({ id }) => ({ caller, entry: { organizationId: id, action, targetId: person.id, details } })),
  );
  const nowMs = now();
  const notice = {
    id: newId('notice', nowMs),
    organizationId: null,
    // Of a change of what the person signs in with.
    kind: 'password_changed' as const,
    targetId: person.id,
    recipient: person.email,
    subject,
    text: `${what} It happened at ${new Date(nowMs).toISOString()}.

If it was not you, change your password at once, or ask an owner of your organization or the operator of the service.
`,
  };
  await insertMemberNotices(sql, [notice], new Date(nowMs));
  return [notice];
}
