/** What is written about decisions: their events, and the log that puts them into the order of a mailbox's changes. */
import type { NewEvent } from '#core/events/record-event.ts';
import { announceMailboxAccess } from '#core/mailboxes/mailbox-logins.ts';
import type { Sql } from '#db/database.ts';
import type { Actor, EnvelopeMailbox, EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import type { ConsentRow } from './find-consents.ts';

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
        : { reason: consent.reason, decidedAt, returned: consent.returned },
    },
  };
}

/** Organization and mailbox as event envelopes name them. */
interface AboutMailbox {
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
