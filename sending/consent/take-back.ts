/**
 * An approval is taken back while its message waits: the request is pending again, as are those that the same approval
 * decided, and what it remembered is forgotten.
 *
 *   approved, until `undo_until` ──take back──▶ pending
 *                               └──its time───▶ released, and final
 *
 * The release and this lock the message: whichever comes first is what happens.
 */
import { recordEvents } from '#core/events/record-event.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { Decided } from './decide-consent.ts';
import { aboutMailboxes, logDecisions } from './decision-records.ts';
import { findConsent, findConsents } from './find-consents.ts';

/**
 * Signal the workflows of the messages afterwards.
 *
 * @throws {CatalogueError} not_found; conflict: it is not approved, or too late
 */
export async function takeBackApproval(
  services: Pick<Services, 'db' | 'now' | 'deliveriesDue'>,
  organizationId: string,
  consentId: string,
  caller: Caller,
): Promise<Decided> {
  const now = new Date(services.now());
  const { rows, owed } = await services.db.transaction(async (sql) => {
    if ((await findConsent(sql, organizationId, consentId)) === undefined) throw new CatalogueError('not_found');
    const approved = await sql.query<{ id: string; messageId: string }>(
      `select id, message_id as "messageId" from consent
        where organization_id = $1 and (id = $2 or decided_with = $2) and status = 'approved' and undo_until > $3
        order by id for no key update`,
      [organizationId, consentId, now],
    );
    // Still waiting: not released, nor withdrawn.
    const waiting = await sql.query<{ id: string }>(
      `select id from outbound_message where id = any($1::text[]) and state = 'scheduled' order by id for update`,
      [approved.map(({ messageId }) => messageId)],
    );
    const back = approved.filter(({ messageId }) => waiting.some(({ id }) => id === messageId));
    const ids = back.map(({ id }) => id);
    const own = approved.find(({ id }) => id === consentId);
    // Withdrawn by its sender: what the approval allowed besides is taken back all the same.
    const [withdrawn] = await sql.query(
      `select 1 where not exists (select from outbound_message where id = $1 and state <> 'denied')`,
      [own?.messageId ?? ''],
    );
    if (own === undefined || (!ids.includes(consentId) && withdrawn === undefined))
      throw new CatalogueError('conflict', 'It is too late: the message is sent, or was not approved.', {
        fix: 'To stop what is not sent yet, withdraw the message or stop the mailbox.',
      });
    await sql.query(
      `update consent set status = 'pending', scope = null, decided_at = null, decided_by = null, undo_until = null,
              decided_with = null, releases_others = false, first_approval = null where id = any($1::text[])`,
      [ids],
    );
    await sql.query(`update outbound_message set state = 'held' where id = any($1::text[])`, [
      back.map(({ messageId }) => messageId),
    ]);
    // What an earlier approval had remembered too is forgotten with it: then a person is asked again.
    await sql.query(
      `delete from known_recipient where organization_id = $1 and consent_id = $2 and source = 'approved'`,
      [organizationId, consentId],
    );
    const pending = await findConsents(sql, organizationId, ids);
    await recordAudits(
      sql,
      ids.map((id) => ({
        caller,
        entry: { organizationId, action: 'consent.taken_back' as const, targetId: id, details: {} },
      })),
    );
    const about = await aboutMailboxes(sql, [...new Set(pending.map(({ mailboxId }) => mailboxId))]);
    const events = pending.flatMap((consent) => {
      const names = about.get(consent.mailboxId);
      if (names === undefined) return [];
      const { id, messageId, recipients, subject, preview, expiresAt } = consent;
      return [
        {
          ...names,
          type: 'outbound_consent_requested' as const,
          actor: caller.actor,
          occurredAt: now,
          data: { consentId: id, messageId, recipients, subject, preview, expiresAt: expiresAt.toISOString() },
        },
      ];
    });
    const recorded = await recordEvents(sql, events);
    await logDecisions(sql, pending);
    return { rows: pending, owed: recorded };
  });
  if (owed > 0) services.deliveriesDue.wake();
  const consent =
    rows.find(({ id }) => id === consentId) ?? (await findConsent(services.db, organizationId, consentId));
  if (consent === undefined) throw new Error('an approval was taken back and is not there');
  return { consent, messageIds: rows.map(({ messageId }) => messageId), more: false };
}
