import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '#core/organizations/audit.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { Mailbox, type MailboxRow } from '#db/entities.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import type { ScreeningMode } from '#domain/mail/screening.ts';
import { MAILBOX_TRANSITIONS, type UnauthenticatedMail } from '#domain/organizations/mailboxes.ts';
import type { CarriedMailMode } from '#domain/sending/carried-mail.ts';
import { type Brakes, loosens, type SendingBudgets, type SendingMode } from '#domain/sending/sending-brakes.ts';
import { announceMailboxAccess } from './mailbox-logins.ts';
import { goOn, handOversEnded, lockBrakes } from './sending-brakes.ts';

export interface MailboxChanges {
  readonly name?: string;
  readonly purpose?: string | null;
  readonly group?: string | null;
  /** Replaces all metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly status?: 'active' | 'suspended';
  readonly unauthenticatedMail?: UnauthenticatedMail;
  /** Null: as the organization. */
  readonly screening?: ScreeningMode | null;
  readonly plusAddresses?: boolean;
  readonly carriedMail?: CarriedMailMode | null;
  readonly askAfterReadingMinutes?: number | null;
  /** Null: never. In the past: it is expired at once. */
  readonly expiresAt?: Date | null;
  /** Null: as the organization. */
  readonly retention?: MailRetention | null;
  /** Changed by `sending/canaries/plant-canary.ts`; here for the audit log. */
  readonly canary?: boolean;
  readonly sendingMode?: SendingMode;
  /** Budgets not named keep their value. */
  readonly budgets?: Partial<SendingBudgets>;
}

/** The row of a mailbox that is not deleted, locked until the transaction ends. @throws {CatalogueError} not_found */
export async function lockMailbox(em: EntityManager, organizationId: string, mailboxId: string): Promise<MailboxRow> {
  const mailbox = await em.findOne(
    Mailbox,
    { id: mailboxId, organization: organizationId, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (mailbox === null) throw new CatalogueError('not_found');
  return mailbox;
}

/**
 * A request that sets a stop is answered when no transmission is in flight any more, after ten seconds at most.
 *
 * @returns messages whose workflows must be woken, because a stop ended
 * @throws {CatalogueError} not_found; conflict when the status cannot change so; forbidden if a caller that is not a
 * person would change the screening or what may leave, loosen a brake, or resume a suspended mailbox and may not decide
 */
export async function updateMailbox(
  services: Pick<Services, 'db' | 'now'>,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
  changes: MailboxChanges,
): Promise<readonly string[]> {
  const braking = changes.sendingMode !== undefined || changes.budgets !== undefined;
  const woken = await services.db.entityTransaction(async (em) => {
    if (braking) await lockBrakes(sqlOfEntityManager(em), organizationId);
    const mailbox = await lockMailbox(em, organizationId, mailboxId);
    const { status } = changes;
    if (status !== undefined && status !== mailbox.status) {
      if (mailbox.status === 'pending' || !MAILBOX_TRANSITIONS[mailbox.status].includes(status))
        throw new CatalogueError('conflict', `A mailbox that is ${mailbox.status} cannot become ${status}.`, {
          fix:
            mailbox.status === 'pending'
              ? 'Verify its domain: POST /api/domains/:id/verify, which makes the mailbox active.'
              : 'Read the mailbox again: its status changed meanwhile.',
        });
      if (status === 'active') await requireDecider(sqlOfEntityManager(em), organizationId, caller);
      mailbox.status = status;
      await announceMailboxAccess(sqlOfEntityManager(em), mailboxId);
    }
    if (changes.name !== undefined) mailbox.name = changes.name;
    if (changes.purpose !== undefined) mailbox.purpose = changes.purpose;
    if (changes.group !== undefined && changes.group !== mailbox.groupName) {
      mailbox.groupName = changes.group;
      await announceMailboxAccess(sqlOfEntityManager(em), mailboxId);
    }
    if (changes.metadata !== undefined) mailbox.metadata = { ...changes.metadata };
    if (changes.screening !== undefined && changes.screening !== (mailbox.screening ?? null)) {
      // Held mail is for persons, so whether there is any is too.
      requirePerson(caller, 'the screening of arriving mail');
      mailbox.screening = changes.screening;
    }
    if (changes.carriedMail !== undefined && changes.carriedMail !== (mailbox.carriedMail ?? null)) {
      requirePerson(caller, 'what may leave the mailbox');
      mailbox.carriedMail = changes.carriedMail;
    }
    const { askAfterReadingMinutes: minutes } = changes;
    if (minutes !== undefined && minutes !== (mailbox.askAfterReadingMinutes ?? null)) {
      requirePerson(caller, 'what may leave the mailbox');
      mailbox.askAfterReadingMinutes = minutes;
    }
    if (changes.plusAddresses !== undefined) mailbox.plusAddresses = changes.plusAddresses;
    if (changes.unauthenticatedMail !== undefined) mailbox.unauthenticatedMail = changes.unauthenticatedMail;
    if (changes.retention !== undefined) mailbox.retention = changes.retention;
    if (changes.expiresAt !== undefined) {
      // Not before now: what follows an expiry comes days after it, and a person may still change their mind.
      mailbox.expiresAt = notBefore(changes.expiresAt, services.now());
      await announceMailboxAccess(sqlOfEntityManager(em), mailboxId);
    }
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'mailbox.updated',
      targetId: mailboxId,
      details: { fields: Object.keys(changes), ...(status === undefined ? {} : { status }), ...keptOf(changes) },
    });
    return braking ? changeBrakes(em, organizationId, mailbox, caller, changes, new Date(services.now())) : [];
  });
  if (changes.sendingMode === 'stopped') await handOversEnded(services.db, { organizationId, mailboxId });
  return woken;
}

const notBefore = (time: Date | null, nowMs: number): Date | null =>
  time === null ? null : new Date(Math.max(time.getTime(), nowMs));

function requirePerson({ actor }: Caller, what: string): void {
  if (actor.type !== 'user')
    throw new CatalogueError('forbidden', `Only a signed-in person may change ${what}.`, {
      fix: 'Ask a member of the organization.',
    });
}

/** What decides who reads its mail, and how long it is kept. */
const keptOf = ({ group, retention, expiresAt }: MailboxChanges) => ({
  ...(group === undefined ? {} : { group }),
  ...(retention === undefined ? {} : { retention }),
  ...(expiresAt === undefined ? {} : { expiresAt }),
});

async function changeBrakes(
  em: EntityManager,
  organizationId: string,
  mailbox: MailboxRow,
  caller: Caller,
  { sendingMode, budgets = {} }: MailboxChanges,
  now: Date,
): Promise<readonly string[]> {
  const before: Brakes = {
    mode: mailbox.sendingMode,
    budgets: {
      messagesPerDay: mailbox.messagesPerDay ?? null,
      newRecipientsPerDay: mailbox.newRecipientsPerDay ?? null,
    },
  };
  const after: Brakes = { mode: sendingMode ?? before.mode, budgets: { ...before.budgets, ...budgets } };
  if (loosens(before, after) && caller.actor.type !== 'user')
    throw new CatalogueError('forbidden', 'Only a signed-in person may loosen a brake of sending.', {
      fix: 'Ask a member of the organization. An API key may tighten brakes, not loosen them.',
    });
  mailbox.sendingMode = after.mode;
  mailbox.messagesPerDay = after.budgets.messagesPerDay;
  mailbox.newRecipientsPerDay = after.budgets.newRecipientsPerDay;
  await em.flush();
  const sql = sqlOfEntityManager(em);
  await recordAudit(sql, caller, {
    organizationId,
    action: 'mailbox.brakes_changed',
    targetId: mailbox.id,
    details: { before, after },
  });
  const ended = before.mode === 'stopped' && after.mode !== 'stopped';
  return ended ? goOn(sql, { organizationId, mailboxId: mailbox.id }, now) : [];
}

/** Replaces the first token; the old one is invalid after the commit. @returns the new token; it cannot be read again */
export async function rotateMailboxToken(
  services: Services,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
): Promise<string> {
  const token = newCredential('mailboxToken');
  await services.db.entityTransaction(async (em) => {
    const mailbox = await lockMailbox(em, organizationId, mailboxId);
    mailbox.tokenHash = hashCredential(token, services.pepper);
    await announceMailboxAccess(sqlOfEntityManager(em), mailboxId);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'mailbox.token_rotated',
      targetId: mailboxId,
    });
  });
  return token;
}
