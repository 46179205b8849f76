/** A member names another one who decides in the same cases, for a time. */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { DEPUTY_MAX_DAYS } from '#domain/sending/decision-rules.ts';

export interface Deputy {
  /** Of the deputy. */
  readonly memberId: string;
  readonly from: Date;
  readonly until: Date;
}

interface Naming {
  readonly organizationId: string;
  readonly memberId: string;
}

/** The one that a member has named, also if the time is over. */
export async function findDeputy(sql: Sql, { organizationId, memberId }: Naming): Promise<Deputy | null> {
  const [row] = await sql.query<Deputy>(
    `select d.id as "memberId", m.deputy_from as "from", m.deputy_until as until from members m
       join members d on d.id = m.deputy_id and d.organization_id = m.organization_id
      where m.id = $1 and m.organization_id = $2`,
    [memberId, organizationId],
  );
  return row ?? null;
}

const DAY_MS = 86_400_000;

/** @param deputy null: nobody any more. @throws {CatalogueError} invalid_request */
export async function nameDeputy(
  services: Pick<Services, 'db' | 'now'>,
  { organizationId, memberId }: Naming,
  deputy: Deputy | null,
  caller: Caller,
): Promise<void> {
  const refuse = (path: string, message: string) =>
    new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });
  if (deputy !== null) {
    const { from, until } = deputy;
    if (
      until <= from ||
      until.getTime() <= services.now() ||
      until.getTime() - from.getTime() > DEPUTY_MAX_DAYS * DAY_MS
    )
      throw refuse(
        '/deputy/until',
        `must be in the future, after \`from\`, and at most ${DEPUTY_MAX_DAYS} days after it`,
      );
    if (deputy.memberId === memberId) throw refuse('/deputy/memberId', 'must be another member');
  }
  await services.db.transaction(async (sql) => {
    const rows = await sql.query(
      `update members set deputy_id = $3, deputy_from = $4, deputy_until = $5
        where id = $1 and organization_id = $2
          and ($3::text is null or exists (select from members d where d.id = $3 and d.organization_id = $2))
        returning 1`,
      [memberId, organizationId, deputy?.memberId ?? null, deputy?.from ?? null, deputy?.until ?? null],
    );
    if (rows.length === 0) throw refuse('/deputy/memberId', 'is not a member of the organization');
    await recordAudit(sql, caller, {
      organizationId,
      action: 'member.deputy_named',
      targetId: memberId,
      details:
        deputy === null
          ? { deputy: null }
          : { deputy: deputy.memberId, from: deputy.from.toISOString(), until: deputy.until.toISOString() },
    });
  });
}
