import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvents } from '#core/events/record-event.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { stopDeliveries } from '#core/webhooks/endpoints/stop-deliveries.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { WebhookEndpoint } from '#db/entities.ts';
import type { EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import { announceMailboxAccess } from './mailbox-logins.ts';
import { envelopeMailbox, mailboxSnapshot } from './mailbox-queries.ts';
import { lockMailbox } from './update-mailbox.ts';

/**
 * Deletes a mailbox: its tokens and address are invalid after the commit, its own endpoints are deleted and their
 * deliveries stopped, organization endpoints receive `mailbox_deleted`. Messages not sent yet end as `denied`. Its mail
 * stays until it is purged.
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
  const endpointIds = await services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const { mailbox, endpointIds: ended } = await closeMailbox(services, em, organization.id, mailboxId);
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
        occurredAt: mailbox.deletedAt ?? new Date(services.now()),
      },
    ]);
    return ended;
  });
  services.deliveriesDue.wake();
  if (endpointIds.length > 0) stopDeliveries(services, temporal, { endpointIds }, 'mailbox_deleted');
}

/**
 * The part of a deletion after which nobody reaches the mailbox any more: tokens, address, endpoints.
 *
 * @returns its endpoints, whose deliveries stop
 * @throws {CatalogueError} not_found
 */
export async function closeMailbox(
  services: Pick<Services, 'now' | 'pepper'>,
  em: EntityManager,
  organizationId: string,
  mailboxId: string,
): Promise<{ readonly mailbox: Awaited<ReturnType<typeof lockMailbox>>; readonly endpointIds: string[] }> {
  const sql = sqlOfEntityManager(em);
  const mailbox = await lockMailbox(em, organizationId, mailboxId);
  const now = new Date(services.now());
  mailbox.status = 'deleting';
  mailbox.deletedAt = now;
  // Nobody knows this token: the old one is invalid, even for code that forgets to check `deletedAt`.
  mailbox.tokenHash = hashCredential(newCredential('mailboxToken'), services.pepper);
  // Locked in the order of `db/queries/webhooks/endpoint-health.ts`.
  const endpoints = await em.find(
    WebhookEndpoint,
    { mailbox: mailboxId, deletedAt: null },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const endpoint of endpoints) endpoint.deletedAt = now;
  await em.flush();
  await sql.query(`delete from mailbox_token where mailbox_id = $1`, [mailboxId]);
  await sql.query(`delete from oauth_grants where mailbox_id = $1`, [mailboxId]);
  await announceMailboxAccess(sql, mailboxId);
  // The workflows of held and unsent messages end them; the sweep wakes these workflows.
  await sql.query(
    `update outbound_message set due_at = $2 where mailbox_id = $1 and state in ('held', 'scheduled', 'sending')`,
    [mailboxId, now],
  );
  return { mailbox, endpointIds: endpoints.map(({ id }) => id) };
}
