import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOfEntityManager } from '../db/database.ts';
import { Mailbox, type MailboxRow } from '../db/entities/mailbox.ts';
import { CatalogueError } from '../domain/errors.ts';
import { MAILBOX_TRANSITIONS, type UnauthenticatedMail } from '../domain/mailbox-status.ts';
import { recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { hashCredential, newCredential } from './credentials.ts';
import { announceMailboxAccess } from './mailbox-access.ts';
import type { Services } from './services.ts';

export interface MailboxChanges {
  readonly name?: string;
  /** Replaces all metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly status?: 'active' | 'suspended';
  readonly unauthenticatedMail?: UnauthenticatedMail;
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

/** @throws {CatalogueError} not_found; conflict when the status cannot change so */
export async function updateMailbox(
  services: Services,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
  changes: MailboxChanges,
): Promise<void> {
  await services.db.em().transactional(async (em) => {
    const mailbox = await lockMailbox(em, organizationId, mailboxId);
    const { status } = changes;
    if (status !== undefined && status !== mailbox.status) {
      if (mailbox.status === 'pending' || !MAILBOX_TRANSITIONS[mailbox.status].includes(status))
        throw new CatalogueError('conflict', `A mailbox that is ${mailbox.status} cannot become ${status}.`, {
          fix:
            mailbox.status === 'pending'
              ? 'Verify its domain first: POST /api/domains/:id/verify; it becomes active by that.'
              : 'Read the mailbox again: its status changed meanwhile.',
        });
      mailbox.status = status;
      await announceMailboxAccess(sqlOfEntityManager(em), mailboxId);
    }
    if (changes.name !== undefined) mailbox.name = changes.name;
    if (changes.metadata !== undefined) mailbox.metadata = { ...changes.metadata };
    if (changes.unauthenticatedMail !== undefined) mailbox.unauthenticatedMail = changes.unauthenticatedMail;
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'mailbox.updated',
      targetId: mailboxId,
      details: { fields: Object.keys(changes), ...(status === undefined ? {} : { status }) },
    });
  });
}

/** Replaces the token; the old one dies with the commit. @returns the new token, for this once */
export async function rotateMailboxToken(
  services: Services,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
): Promise<string> {
  const token = newCredential('mailboxToken');
  await services.db.em().transactional(async (em) => {
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
