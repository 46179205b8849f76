/**
 * Approvals given in advance: one mailbox may write to some addresses or domains until a time, so many messages.
 *
 *   active ──its messages are submitted──▶ used_up
 *      ├──its time──▶ ended
 *      └──a person──▶ revoked
 *
 * Each message takes one of its number in the transaction of its submission, under the lock of the row: two concurrent
 * submissions never take the last one together. A message that was submitted stays submitted when the approval ends.
 */
import { recordAudit } from '#core/organizations/audit.ts';
import { requireAllowedAhead } from '#core/organizations/decision-rules.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { HeldBecauseKind } from '#domain/sending/consent.ts';
import {
  STANDING_APPROVAL_AHEAD_MAX_DAYS,
  STANDING_APPROVALS_PER_MAILBOX_MAX,
} from '#domain/sending/standing-approvals.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

export interface StandingApproval {
  readonly id: string;
  readonly mailboxId: string;
  /** Addresses and domains, in lower case. */
  readonly recipients: readonly string[];
  readonly endsAt: Date;
  readonly messagesMax: number;
  readonly messagesUsed: number;
  readonly createdBy: Actor;
  readonly createdAt: Date;
  readonly revokedBy: Actor | null;
  readonly revokedAt: Date | null;
}

const COLUMNS = `id, mailbox_id as "mailboxId", recipients, ends_at as "endsAt", messages_max as "messagesMax",
  messages_used as "messagesUsed", created_by as "createdBy", created_at as "createdAt", revoked_by as "revokedBy",
  revoked_at as "revokedAt"`;

type Part = Pick<Services, 'db' | 'now'>;

type NewStandingApproval = Pick<StandingApproval, 'mailboxId' | 'recipients' | 'endsAt' | 'messagesMax'>;

const DAY_MS = 86_400_000;

/**
 * The caller must check that the person may decide, and the form of the recipients.
 *
 * @throws {CatalogueError} not_found; invalid_request about the time; forbidden by a rule; conflict: the mailbox has too many
 */
export async function createStandingApproval(
  services: Part,
  organizationId: string,
  { mailboxId, recipients, endsAt, messagesMax }: NewStandingApproval,
  caller: Caller,
): Promise<StandingApproval> {
  const now = services.now();
  if (endsAt.getTime() <= now || endsAt.getTime() > now + STANDING_APPROVAL_AHEAD_MAX_DAYS * DAY_MS)
    throw new CatalogueError('invalid_request', undefined, {
      details: [
        {
          path: '/endsAt',
          message: `must be in the future, at most ${STANDING_APPROVAL_AHEAD_MAX_DAYS} days ahead`,
        },
      ],
    });
  const id = newId('standingApproval', now);
  const named = [...new Set(recipients.map((each) => each.toLowerCase().replace(/^@/, '')))].sort();
  return services.db.transaction(async (sql) => {
    await requireAllowedAhead(sql, organizationId, named, caller, now, mailboxId);
    // Concurrent creations wait for each other here, so that the limit counts all of them.
    const [mailbox] = await sql.query(
      `select 1 from mailboxes where id = $1 and organization_id = $2 and deleted_at is null for no key update`,
      [mailboxId, organizationId],
    );
    if (mailbox === undefined) throw new CatalogueError('not_found');
    const [active] = await sql.query<{ count: number }>(
      `select count(*)::int as count from standing_approval where mailbox_id = $1 and ends_at > $2 and revoked_at is null`,
      [mailboxId, new Date(now)],
    );
    if ((active?.count ?? 0) >= STANDING_APPROVALS_PER_MAILBOX_MAX)
      throw new CatalogueError(
        'conflict',
        `The mailbox has ${STANDING_APPROVALS_PER_MAILBOX_MAX} standing approvals already.`,
        { fix: 'Revoke one of them, or name several recipients in one.' },
      );
    const [row] = await sql.query<StandingApproval>(
      `insert into standing_approval (id, organization_id, mailbox_id, recipients, ends_at, messages_max, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}`,
      [id, organizationId, mailboxId, named, endsAt, messagesMax, JSON.stringify(caller.actor), new Date(now)],
    );
    if (row === undefined) throw new Error('a standing approval was written and is not there');
    await recordAudit(sql, caller, {
      organizationId,
      action: 'standing_approval.created',
      targetId: id,
      details: { mailboxId, recipients: named, endsAt: endsAt.toISOString(), messagesMax },
    });
    return row;
  });
}

/** Newest first; one more than `limit`. */
export const listStandingApprovals = (
  sql: Sql,
  organizationId: string,
  mailboxId: string | undefined,
  page: { readonly limit: number; readonly after: string | null },
): Promise<StandingApproval[]> =>
  sql.query<StandingApproval>(
    `select ${COLUMNS} from standing_approval
      where organization_id = $1 and ($2::text is null or id < $2) and ($3::text is null or mailbox_id = $3)
      order by id desc limit $4`,
    [organizationId, page.after, mailboxId ?? null, page.limit + 1],
  );

/** Ends it now; revoking twice changes nothing. @throws {CatalogueError} not_found */
export async function revokeStandingApproval(
  services: Part,
  organizationId: string,
  id: string,
  caller: Caller,
): Promise<StandingApproval> {
  const now = new Date(services.now());
  return services.db.transaction(async (sql) => {
    const rows = await sql.query<{ used: number }>(
      `update standing_approval set revoked_at = $3, revoked_by = $4
        where id = $1 and organization_id = $2 and revoked_at is null returning messages_used as used`,
      [id, organizationId, now, JSON.stringify(caller.actor)],
    );
    const [revoked] = rows;
    if (revoked !== undefined)
      await recordAudit(sql, caller, {
        organizationId,
        action: 'standing_approval.revoked',
        targetId: id,
        details: { messagesUsed: revoked.used },
      });
    const [row] = await sql.query<StandingApproval>(
      `select ${COLUMNS} from standing_approval where id = $1 and organization_id = $2`,
      [id, organizationId],
    );
    if (row === undefined) throw new CatalogueError('not_found');
    return row;
  });
}

/** What a person is asked about, and has answered in advance. Content and reply targets are looked at by a person. */
const COVERS: readonly HeldBecauseKind[] = ['first_contact', 'always'];

/**
 * Takes one message of an approval that covers all these recipients; of several, of the one that ends first. Part of the
 * transaction of the submission.
 *
 * @returns its id; null: there is none, and a person is asked
 */
export async function takeStandingApproval(
  sql: Sql,
  mailboxId: string,
  {
    asked,
    heldBecause,
    now,
  }: { readonly asked: readonly string[]; readonly heldBecause: HeldBecauseKind; readonly now: Date },
): Promise<string | null> {
  if (asked.length === 0 || !COVERS.includes(heldBecause)) return null;
  const [row] = await sql.query<{ id: string }>(TAKE, [mailboxId, now, asked]);
  return row?.id ?? null;
}

/** The lock reads the row again, so its conditions are true of what is there when it is this transaction's turn. */
const TAKE = `
  with taken as (
    select id from standing_approval s
     where s.mailbox_id = $1 and s.revoked_at is null and s.ends_at > $2 and s.messages_used < s.messages_max
       and not exists (
         select from unnest($3::text[]) as a (address)
          where not (a.address = any(s.recipients) or split_part(a.address, '@', -1) = any(s.recipients)))
       -- Where two persons decide, each message is for them, also if the rule is younger than the approval.
       and not exists (
         select from decision_rule r join mailboxes m on m.id = s.mailbox_id
          where r.organization_id = s.organization_id and r.persons = 2
            and (r.mailbox_group is null or r.mailbox_group = m.group_name)
            and (cardinality(r.recipients) = 0 or exists (
              select from unnest($3::text[]) as a (address)
               where a.address = any(r.recipients) or split_part(a.address, '@', -1) = any(r.recipients))))
     order by s.ends_at, s.id limit 1 for no key update
  )
  update standing_approval s set messages_used = s.messages_used + 1 from taken where s.id = taken.id returning s.id`;

/** The message is held after all, for another reason. In the transaction that took it. */
export const giveBackStandingApproval = (sql: Sql, id: string): Promise<unknown> =>
  sql.query(`update standing_approval set messages_used = messages_used - 1 where id = $1`, [id]);
