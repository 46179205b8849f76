/**
 * A request for a person's decision as recorded: its row, the events of decisions, and the log of decisions in the order of
 * all changes of a mailbox, by which a stream is resumed. The log's numbers come from the same sequence as changes of mail
 * (`change_seq`), under the lock of the counter.
 */
import type { NewEvent } from '#core/events/record-event.ts';
import { announceMailboxAccess } from '#core/mailboxes/mailbox-access.ts';
import type { Sql } from '#db/database.ts';
import type { Reach } from '#domain/organizations/mailboxes.ts';
import type { ConsentChanges, ConsentScope, ConsentStatus, HeldBecauseKind } from '#domain/sending/consent.ts';
import type { Actor, EnvelopeMailbox, EnvelopeOrganization } from '#domain/webhooks/event-types.ts';

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

/** `outbound_consent_approved` or `_denied` of each of these decided requests. */
export async function decisionEvents(
  sql: Sql,
  consents: readonly ConsentRow[],
  actor: Actor,
  occurredAt: Date,
): Promise<NewEvent[]> {
  const mailboxes = await aboutMailboxes(sql, [...new Set(consents.map(({ mailboxId }) => mailboxId))]);
  return consents.flatMap((consent) => {
    const about = mailboxes.get(consent.mailboxId);
    return about === undefined ? [] : [decisionEvent(consent, about, actor, occurredAt)];
  });
}

function decisionEvent(consent: ConsentRow, about: AboutMailbox, actor: Actor, occurredAt: Date): NewEvent {
  const decidedAt = occurredAt.toISOString();
  const approved = consent.status === 'approved';
  return {
    ...about,
    type: approved ? 'outbound_consent_approved' : 'outbound_consent_denied',
    actor,
    occurredAt,
    data: {
      consentId: consent.id,
      messageId: consent.messageId,
      recipients: consent.recipients,
      subject: consent.subject,
      preview: consent.preview,
      expiresAt: consent.expiresAt.toISOString(),
      decision: approved
        ? { scope: consent.scope, decidedAt, changes: consent.changes }
        : { reason: consent.reason, decidedAt },
    },
  };
}

/** Organization and mailbox as event envelopes name them. */
export interface AboutMailbox {
  readonly organization: EnvelopeOrganization;
  readonly mailbox: EnvelopeMailbox;
}

/** By their id. */
export async function aboutMailboxes(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, AboutMailbox>> {
  const rows = await sql.query<EnvelopeMailbox & { organization: EnvelopeOrganization }>(
    `select m.id, m.name, m.address, m.local_part as "localPart", m.domain,
            json_build_object('id', o.id, 'name', o.name, 'slug', o.slug) as organization
       from mailboxes m join organizations o on o.id = m.organization_id where m.id = any($1::text[])`,
    [ids],
  );
  return new Map(rows.map(({ organization, ...mailbox }) => [mailbox.id, { organization, mailbox }]));
}

/**
 * Call it at the end of the transaction of the decisions: folders must be locked before. Watchers of the mailboxes are
 * notified with the commit.
 */
export async function logDecisions(sql: Sql, consents: readonly Pick<ConsentRow, 'id' | 'mailboxId'>[]): Promise<void> {
  if (consents.length === 0) return;
  const mailboxIds = [...new Set(consents.map(({ mailboxId }) => mailboxId))];
  await sql.query(
    `select from mailbox_counter where mailbox_id = any($1::text[]) order by mailbox_id for no key update`,
    [mailboxIds],
  );
  await sql.query(LOG, [consents.map(({ id }) => id), consents.map(({ mailboxId }) => mailboxId)]);
  await announceMailboxAccess(sql, ...mailboxIds);
}

const LOG = `
  with given as (
    select consent_id, mailbox_id, row_number() over (partition by mailbox_id order by consent_id) as place
      from unnest($1::text[], $2::text[]) as g (consent_id, mailbox_id)
  ), counted as (
    update mailbox_counter c set change_seq = c.change_seq + n.n
      from (select mailbox_id, count(*) as n from given group by mailbox_id) as n
     where c.mailbox_id = n.mailbox_id
    returning c.mailbox_id, c.change_seq - n.n as before
  )
  insert into decision_log (mailbox_id, seq, consent_id)
  select g.mailbox_id, c.before + g.place, g.consent_id from given g join counted c on c.mailbox_id = g.mailbox_id`;
