import { LockMode } from '@mikro-orm/core';
import { sqlOfEntityManager } from '../db/database.ts';
import { WebhookEndpoint } from '../db/entities/webhook-endpoint.ts';
import type { EnvelopeOrganization } from '../domain/event-envelope.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashCredential, newCredential } from './credentials.ts';
import { announceMailboxAccess } from './mailbox-access.ts';
import { envelopeMailbox, mailboxSnapshot } from './mailbox-view.ts';
import { recordEvents } from './record-event.ts';
import type { Services } from './services.ts';
import { stopDeliveries } from './stop-deliveries.ts';
import type { TemporalClient } from './temporal-client.ts';
import { lockMailbox } from './update-mailbox.ts';

/**
 * Deletes a mailbox: its token and address die with the commit, its own endpoints are deleted and their deliveries
 * stopped, organization endpoints hear `mailbox_deleted`. What it had still to send ends as `denied`. Its mail stays until
 * it is purged.
 *
 * @throws {CatalogueError} not_found
 */
export async function deleteMailbox(
  services: Services,
  temporal: TemporalClient,
  organization: EnvelopeOrganization,
  mailboxId: string,
  caller: Caller,
): Promise<void> {
  const endpointIds = await services.db.em().transactional(async (em) => {
    const sql = sqlOfEntityManager(em);
    const mailbox = await lockMailbox(em, organization.id, mailboxId);
    const now = new Date(services.now());
    mailbox.status = 'deleting';
    mailbox.deletedAt = now;
    // Nobody knows this token: the old one opens nothing, even for code that forgets to ask for `deletedAt`.
    mailbox.tokenHash = hashCredential(newCredential('mailboxToken'), services.pepper);
    // Locked in the order of `db/queries/endpoint-health.ts`.
    const endpoints = await em.find(
      WebhookEndpoint,
      { mailbox: mailboxId, deletedAt: null },
      { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    for (const endpoint of endpoints) endpoint.deletedAt = now;
    await em.flush();
    await announceMailboxAccess(sql, mailboxId);
    // What is held or still to be sent is ended by its workflow, which the sweep wakes.
    await sql.query(
      `update outbound_message set due_at = $2 where mailbox_id = $1 and state in ('held', 'scheduled', 'sending')`,
      [mailboxId, now],
    );
    await recordAudit(sql, caller, {
      organizationId: organization.id,
      action: 'mailbox.deleted',
      targetId: mailboxId,
      details: { address: mailbox.address, name: mailbox.name },
    });
    await recordEvents(sql, [
      {
        type: 'mailbox_deleted',
        organization: { id: organization.id, name: organization.name, slug: organization.slug },
        mailbox: envelopeMailbox(mailbox),
        actor: caller.actor,
        data: { mailbox: mailboxSnapshot(mailbox) },
        occurredAt: now,
      },
    ]);
    return endpoints.map(({ id }) => id);
  });
  services.deliveriesDue.nudge();
  if (endpointIds.length > 0) stopDeliveries(services, temporal, { endpointIds }, 'mailbox_deleted');
}
