/** The requests for a decision as they are stored, and finding them. */
import type { Sql } from '#db/database.ts';
import type { Reach } from '#domain/organizations/mailboxes.ts';
import type { ConsentChanges, ConsentScope, ConsentStatus, HeldBecauseKind } from '#domain/sending/consent.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

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
  readonly reason: string | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: Actor | null;
  /** Changes that the approving person made; null: none. */
  readonly changes: ConsentChanges | null;
  readonly heldBecause: HeldBecauseKind;
  /** SHA-256 over the bytes and recipients it is about. */
  readonly contentHash: Buffer;
}

const SELECT = `
  select id, mailbox_id as "mailboxId", message_id as "messageId", status, recipients, subject, preview,
         expires_at as "expiresAt", created_at as "createdAt", scope, reason, decided_at as "decidedAt",
         decided_by as "decidedBy", changes, coalesce(held_because, 'not_recorded') as "heldBecause", content_hash as "contentHash"
    from consent where organization_id = $1`;

export async function findConsent(sql: Sql, organizationId: string, id: string): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(`${SELECT} and id = $2`, [organizationId, id]);
  return row;
}

/** Several at once, in no order; those of other organizations are left out. */
export const findConsents = (sql: Sql, organizationId: string, ids: readonly string[]): Promise<ConsentRow[]> =>
  sql.query<ConsentRow>(`${SELECT} and id = any($2::text[])`, [organizationId, ids]);

const LIST = `${SELECT} and ($2::text is null or id < $2) and ($3::text is null or status = $3)
    and ($4::text is null or mailbox_id = $4)
    and ($6::text[] is null or exists (select from mailboxes x where x.id = mailbox_id and x.group_name = any($6)))
  order by id desc limit $5`;

/** Newest first; one more than `limit`. */
export const listConsents = (
  sql: Sql,
  organizationId: string,
  filter: { readonly status?: ConsentStatus; readonly mailboxId?: string; readonly reach?: Reach },
  page: { readonly limit: number; readonly after: string | null },
): Promise<ConsentRow[]> =>
  sql.query<ConsentRow>(LIST, [
    organizationId,
    page.after,
    filter.status ?? null,
    filter.mailboxId ?? null,
    page.limit + 1,
    filter.reach ?? null,
  ]);
