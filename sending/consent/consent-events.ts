/** Events of decisions about held mail. */

import type { NewEvent } from '#core/events/record-event.ts';
import type { Sql } from '#db/database.ts';
import type { Actor, EnvelopeMailbox, EnvelopeOrganization } from '#domain/webhooks/event-envelope.ts';
import type { ConsentRow } from './consent-queries.ts';

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
