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
import type { Portion } from '#db/delete-portion.ts';
import { WebhookEndpoint } from '#db/entities.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { EXPIRED_MAILBOX_GRACE_DAYS } from '#domain/mail/mail-retention.ts';
import { type EnvelopeOrganization, SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { announceMailboxAccess } from './mailbox-logins.ts';
import { envelopeMailbox, mailboxSnapshot } from './mailbox-queries.ts';
import { lockMailbox } from './update-mailbox.ts';

const DAY_MS = 86_400_000;
const SYSTEM: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

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
  const endpointIds = await services.db.entityTransaction((em) =>
    closeAndRecord(services, em, organization, mailboxId, caller, {}),
  );
  services.deliveriesDue.wake();
  if (endpointIds.length > 0) stopDeliveries(services, temporal, { endpointIds }, 'mailbox_deleted');
}

type ClosingServices = Pick<Services, 'db' | 'now' | 'pepper' | 'deliveriesDue'>;

/** @param details of the audit entry, beside address and name @returns endpoints whose deliveries stop */
async function closeAndRecord(
  services: ClosingServices,
  em: EntityManager,
  organization: EnvelopeOrganization,
  mailboxId: string,
  caller: Caller,
  details: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const sql = sqlOfEntityManager(em);
  const { mailbox, endpointIds } = await closeMailbox(services, em, organization.id, mailboxId);
  await recordAudit(sql, caller, {
    organizationId: organization.id,
    action: 'mailbox.deleted',
    targetId: mailboxId,
    details: { address: mailbox.address, name: mailbox.name, ...details },
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
  return endpointIds;
}

const EXPIRED_AT_ONCE = 50;

/** Each locks the row first: somebody may just be setting a later time. */
const EXPIRED = `
  select x.id, x.expires_at, o.id as organization_id, o.name, o.slug
    from mailboxes x join organizations o on o.id = x.organization_id
   where x.expires_at < $1 and x.deleted_at is null and not ${onHold('x.id')}`;

interface ExpiredRow extends EnvelopeOrganization {
  readonly organization_id: string;
  readonly expires_at: Date;
}

/**
 * Deletes a portion of the mailboxes that expired {@link EXPIRED_MAILBOX_GRACE_DAYS} ago, as a person deletes them, with
 * the event. One on legal hold stays expired. Deliveries of their endpoints end at their next attempt.
 */
export async function deleteExpiredMailboxes(services: ClosingServices): Promise<Portion> {
  const before = new Date(services.now() - EXPIRED_MAILBOX_GRACE_DAYS * DAY_MS);
  const rows = await services.db.query<ExpiredRow>(`${EXPIRED} order by x.expires_at limit $2`, [
    before,
    EXPIRED_AT_ONCE,
  ]);
  let done = 0;
  for (const { id, name, slug, organization_id: organizationId, expires_at: expiredAt } of rows)
    done += await services.db.entityTransaction(async (em) => {
      const sql = sqlOfEntityManager(em);
      await holdsStay(sql);
      const still = await sql.query(`${EXPIRED} and x.id = $2 for no key update of x`, [before, id]);
      if (still.length === 0) return 0;
      await closeAndRecord(services, em, { id: organizationId, name, slug }, id, SYSTEM, {
        expiredAt: expiredAt.toISOString(),
      });
      return 1;
    });
  if (done > 0) services.deliveriesDue.wake();
  return { done, more: rows.length === EXPIRED_AT_ONCE };
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
  await sql.query(
    `update mailbox_alias set deleted_at = $2, updated_at = $2 where mailbox_id = $1 and deleted_at is null`,
    [mailboxId, now],
  );
  await sql.query(`update domains set catch_all_mailbox_id = null where catch_all_mailbox_id = $1`, [mailboxId]);
  await announceMailboxAccess(sql, mailboxId);
  // The workflows of held and unsent messages end them; the sweep wakes these workflows.
  await sql.query(
    `update outbound_message set due_at = $2 where mailbox_id = $1 and state in ('held', 'scheduled', 'sending')`,
    [mailboxId, now],
  );
  return { mailbox, endpointIds: endpoints.map(({ id }) => id) };
}
