/** The requests for a decision as they are stored, and finding them. */
import type { Sql } from '#db/database.ts';
import type { Reach } from '#domain/organizations/mailboxes.ts';
import type {
  ConsentChanges,
  ConsentScope,
  ConsentStatus,
  HeldBecauseKind,
  HeldDetails,
} from '#domain/sending/consent.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

/** One person has approved, and a second one must. */
export interface FirstApproval {
  readonly by: Actor;
  /** ISO 8601. */
  readonly at: string;
  /** Hash of what was approved, in hexadecimal digits. */
  readonly sha256: string;
}

/** A request for consent with its decision. */
export interface ConsentRow {
  readonly id: string;
  readonly mailboxId: string;
  readonly messageId: string;
  readonly status: ConsentStatus;
  /** The recipients it is about, in lower case. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly scope: ConsentScope | null;
  /** Of a denial; of a returned request its comment. */
  readonly reason: string | null;
  /** It was sent back with a comment, which is a kind of denial. */
  readonly returned: boolean;
  /** Until then the approval can be taken back, and its message waits; null: it cannot. */
  readonly undoUntil: Date | null;
  /** The returned request that this one continues; null: none. */
  readonly resubmits: string | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: Actor | null;
  /** Changes that the approving person made; null: none. */
  readonly changes: ConsentChanges | null;
  readonly heldBecause: HeldBecauseKind;
  /** What else a person is shown about the reason. */
  readonly heldDetails: HeldDetails | null;
  /** 0 to 3 (`domain/sending/consent-risk.ts`). */
  readonly risk: number;
  /** The first of two approvals; null: none, or one is enough. */
  readonly firstApproval: FirstApproval | null;
  /** SHA-256 over the bytes and recipients it is about. */
  readonly contentHash: Buffer;
}

const COLUMNS = `
  select id, mailbox_id as "mailboxId", message_id as "messageId", status, recipients, subject, preview,
         expires_at as "expiresAt", created_at as "createdAt", scope, reason, returned, resubmits, undo_until as "undoUntil", decided_at as "decidedAt",
         decided_by as "decidedBy", changes, coalesce(held_because, 'not_recorded') as "heldBecause", risk,
         held_details as "heldDetails", first_approval as "firstApproval", content_hash as "contentHash"
    from consent`;
const SELECT = `${COLUMNS} where organization_id = $1`;

export async function findConsent(sql: Sql, organizationId: string, id: string): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(`${SELECT} and id = $2`, [organizationId, id]);
  return row;
}

/** Several at once, in no order; those of other organizations are left out. */
export const findConsents = (sql: Sql, organizationId: string, ids: readonly string[]): Promise<ConsentRow[]> =>
  sql.query<ConsentRow>(`${SELECT} and id = any($2::text[])`, [organizationId, ids]);

/** Which requests. All conditions that are given must be true. */
export interface ConsentFilter {
  readonly status?: ConsentStatus | undefined;
  readonly mailboxId?: string | undefined;
  readonly reach?: Reach | undefined;
  /** An address, or a domain, in lower case: of one recipient that the request is about. */
  readonly recipient?: string | undefined;
  readonly heldBecause?: HeldBecauseKind | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** Part of a recipient, the subject or the first words. */
  readonly words?: string | undefined;
}

/** Only what is given is in the statement, so that the indexes of what waits are used. */
function conditionsOf(
  organizationId: string,
  { status, mailboxId, reach, recipient, heldBecause, createdAfter, createdBefore, words }: ConsentFilter,
): { readonly where: string; readonly values: unknown[]; readonly value: (given: unknown) => string } {
  const values: unknown[] = [organizationId];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const where = ['organization_id = $1'];
  if (status === 'pending') where.push(`status = 'pending'`);
  else if (status !== undefined) where.push(`status = ${value(status)}`);
  if (mailboxId !== undefined) where.push(`mailbox_id = ${value(mailboxId)}`);
  if ((reach ?? null) !== null)
    where.push(`exists (select from mailboxes x where x.id = mailbox_id and x.group_name = any(${value(reach)}))`);
  if (recipient?.includes('@')) where.push(`recipients @> array[${value(recipient)}]::text[]`);
  else if (recipient !== undefined)
    where.push(`exists (select from unnest(recipients) as r (address)
                         where split_part(r.address, '@', -1) = ${value(recipient)})`);
  if (heldBecause !== undefined) where.push(`coalesce(held_because, 'not_recorded') = ${value(heldBecause)}`);
  if (createdAfter !== undefined) where.push(`created_at >= ${value(createdAfter)}`);
  if (createdBefore !== undefined) where.push(`created_at < ${value(createdBefore)}`);
  if (words !== undefined) {
    const like = value(`%${words.replaceAll(/[\\%_]/g, '\\$&')}%`);
    where.push(`(subject ilike ${like} or preview ilike ${like} or array_to_string(recipients, ' ') ilike ${like})`);
  }
  return { where: where.join(' and '), values, value };
}

export const CONSENT_ORDERS = ['newest', 'oldest', 'risk'] as const;

const ORDER_BY = { newest: 'id desc', oldest: 'id asc', risk: 'risk desc, id asc' } as const;

/** @param after the placeholder of the id that the page before ended with */
const FROM = {
  newest: (after: string) => `id < ${after}`,
  oldest: (after: string) => `id > ${after}`,
  // The row is there as long as its request is kept, whatever was decided about it.
  risk: (after: string) => `risk <= (select risk from consent where id = ${after})
      and (risk < (select risk from consent where id = ${after}) or id > ${after})`,
} as const;

/** One more than `limit`. `risk`: the highest first, of the same the oldest. */
export function listConsents(
  sql: Sql,
  organizationId: string,
  filter: ConsentFilter,
  page: {
    readonly limit: number;
    readonly after: string | null;
    readonly order?: (typeof CONSENT_ORDERS)[number] | undefined;
  },
): Promise<ConsentRow[]> {
  const { where, values, value } = conditionsOf(organizationId, filter);
  const { order = 'newest' } = page;
  const from = page.after === null ? '' : `and ${FROM[order](value(page.after))}`;
  const limit = value(page.limit + 1);
  return sql.query<ConsentRow>(`${COLUMNS} where ${where} ${from} order by ${ORDER_BY[order]} limit ${limit}`, values);
}

/** Requests of a filter by number: all, and grouped, the largest groups first. */
export interface ConsentSummary {
  readonly total: number;
  readonly oldestAt: Date | null;
  readonly byMailbox: readonly { readonly mailboxId: string; readonly address: string; readonly count: number }[];
  /** A request about two recipients is in two groups. */
  readonly byRecipient: readonly { readonly recipient: string; readonly count: number }[];
  readonly byReason: readonly { readonly heldBecause: HeldBecauseKind; readonly count: number }[];
}

/** Groups of each kind. */
export const SUMMARY_GROUPS_MAX = 100;

/** Of what waits, unless the filter says another status. One statement, whose work is that of the rows that match. */
export async function summarizeConsents(
  sql: Sql,
  organizationId: string,
  filter: ConsentFilter,
): Promise<ConsentSummary> {
  const { where, values, value } = conditionsOf(organizationId, { ...filter, status: filter.status ?? 'pending' });
  const limit = value(SUMMARY_GROUPS_MAX);
  const [row] = await sql.query<ConsentSummary>(
    `with matched as materialized (
       select mailbox_id, recipients, coalesce(held_because, 'not_recorded') as reason, created_at from consent where ${where}
     )
     select (select count(*)::int from matched) as total, (select min(created_at) from matched) as "oldestAt",
            (select coalesce(json_agg(g), '[]') from (
               select mailbox_id as "mailboxId", min(m.address) as address, count(*)::int as count
                 from matched join mailboxes m on m.id = mailbox_id
                group by mailbox_id order by 3 desc, 1 limit ${limit}) as g) as "byMailbox",
            (select coalesce(json_agg(g), '[]') from (
               select r.address as recipient, count(*)::int as count
                 from matched cross join unnest(recipients) as r (address)
                group by 1 order by 2 desc, 1 limit ${limit}) as g) as "byRecipient",
            (select coalesce(json_agg(g), '[]') from (
               select reason as "heldBecause", count(*)::int as count from matched
                group by 1 order by 2 desc, 1) as g) as "byReason"`,
    values,
  );
  return row ?? { total: 0, oldestAt: null, byMailbox: [], byRecipient: [], byReason: [] };
}

/** Approvals whose process ended, or whose request was over, before all that they cover was decided. */
export const approvalsToContinue = (
  sql: Sql,
  decidedBefore: Date,
  limit: number,
): Promise<{ id: string; organizationId: string }[]> =>
  sql.query(
    `select id, organization_id as "organizationId" from consent
      where releases_others and decided_at < $1 order by decided_at limit $2`,
    [decidedBefore, limit],
  );
