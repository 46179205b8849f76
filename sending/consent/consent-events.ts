/** Events of decisions about held mail. */

import type { NewEvent } from '#core/events/record-event.ts';
import type { Sql } from '#db/database.ts';
import type { Actor, EnvelopeMailbox, EnvelopeOrganization } from '#domain/event-envelope.ts';
import type { ConsentRow } from './consent-queries.ts';

/** `outbound_consent_approved` or `_denied` of each of these decided requests. */
export async function decisionEvents(
  sql: Sql,
  consents: readonly ConsentRow[],
  actor: Actor,
  occurredAt: Date,
): Promise<NewEvent[]> {
  const mailboxes = new Map<string, Awaited<ReturnType<typeof aboutMailbox>>>();
  for (const { mailboxId } of consents)
    if (!mailboxes.has(mailboxId)) mailboxes.set(mailboxId, await aboutMailbox(sql, mailboxId));
  return consents.flatMap((consent) => {
    const about = mailboxes.get(consent.mailboxId);
    return about === undefined ? [] : [decisionEvent(consent, about, actor, occurredAt)];
  });
}

function decisionEvent(
  consent: ConsentRow,
  about: Awaited<ReturnType<typeof aboutMailbox>>,
  actor: Actor,
  occurredAt: Date,
): NewEvent {
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
export async function aboutMailbox(
  sql: Sql,
  mailboxId: string,
): Promise<{ organization: EnvelopeOrganization; mailbox: EnvelopeMailbox }> {
  const [row] = await sql.query<EnvelopeMailbox & { organization: EnvelopeOrganization }>(
    `select m.id, m.name, m.address, m.local_part as "localPart", m.domain,
            json_build_object('id', o.id, 'name', o.name, 'slug', o.slug) as organization
       from mailboxes m join organizations o on o.id = m.organization_id where m.id = $1`,
    [mailboxId],
  );
  if (row === undefined) throw new Error('a held message has no mailbox');
  const { organization, ...mailbox } = row;
  return { organization, mailbox };
}
