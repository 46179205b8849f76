/** Creates, lists and revokes the tokens of a mailbox. Only their hashes are stored. */

import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { TOKENS_PER_MAILBOX_MAX, type TokenAccess } from '#domain/organizations/mailboxes.ts';
import { announceMailboxAccess } from './mailbox-logins.ts';

export interface MailboxToken {
  readonly id: string;
  readonly name: string;
  readonly access: TokenAccess;
  /** First characters; null for the first token. */
  readonly hint: string | null;
  /** Of the creation of the mailbox, or of the last rotation. */
  readonly isFirst: boolean;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** Id of a user or API key; null for the first token. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

export interface NewMailboxToken {
  readonly name: string;
  readonly access: TokenAccess;
  /** Null: never. */
  readonly expiresAt: Date | null;
}

const COLUMNS = `
  id, name, access, hint, is_first as "isFirst", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  created_by as "createdBy", created_at as "createdAt"`;

/** Newest first, the first token last. */
export const listMailboxTokens = (sql: Sql, organizationId: string, mailboxId: string): Promise<MailboxToken[]> =>
  sql.query<MailboxToken>(
    `select ${COLUMNS} from mailbox_token where organization_id = $1 and mailbox_id = $2 order by is_first, id desc`,
    [organizationId, mailboxId],
  );

/**
 * @returns the token itself too; it cannot be read again
 * @throws {CatalogueError} not_found; invalid_request (expiry); conflict, if the mailbox has as many as it may have
 */
export async function createMailboxToken(
  services: Services,
  organizationId: string,
  mailboxId: string,
  caller: Caller,
  { name, access, expiresAt }: NewMailboxToken,
): Promise<{ readonly row: MailboxToken; readonly token: string }> {
  const now = services.now();
  if (expiresAt !== null && expiresAt.getTime() <= now)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/expiresAt', message: 'must be in the future' }],
    });
  const token = newCredential('mailboxToken');
  const row = await services.db.transaction(async (sql) => {
    const { count } = await lockedTokens(sql, organizationId, mailboxId);
    if (count >= TOKENS_PER_MAILBOX_MAX)
      throw new CatalogueError('conflict', `A mailbox may have ${TOKENS_PER_MAILBOX_MAX} tokens, and all are in use.`, {
        fix: 'Revoke tokens that have expired or are not used any more; see lastUsedAt in the list.',
      });
    const [made] = await sql.query<MailboxToken>(
      `insert into mailbox_token (id, organization_id, mailbox_id, name, access, token_hash, hint, expires_at,
              created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${COLUMNS}`,
      [
        newId('mailboxToken', now),
        organizationId,
        mailboxId,
        name,
        access,
        hashCredential(token, services.pepper),
        credentialHint(token),
        expiresAt,
        caller.actor.id,
        new Date(now),
      ],
    );
    if (made === undefined) throw new Error('the token was not inserted');
    await recordAudit(sql, caller, {
      organizationId,
      action: 'mailbox.token_created',
      targetId: mailboxId,
      details: { tokenId: made.id, name, access, expiresAt },
    });
    return made;
  });
  return { row, token };
}

/** Revokes a token. It is invalid after the commit, and its connections are closed. @throws {CatalogueError} not_found */
export async function revokeMailboxToken(
  services: Services,
  organizationId: string,
  mailboxId: string,
  tokenId: string,
  caller: Caller,
): Promise<void> {
  await services.db.transaction(async (sql) => {
    await lockedTokens(sql, organizationId, mailboxId);
    const [row] = await sql.query<{ name: string; is_first: boolean }>(
      `select name, is_first from mailbox_token where id = $1 and mailbox_id = $2`,
      [tokenId, mailboxId],
    );
    if (row === undefined) throw new CatalogueError('not_found');
    // The mailbox gets the hash of a token that nobody knows. Its trigger writes the row, so this is the last statement.
    if (row.is_first)
      await sql.query(`update mailboxes set token_hash = $2 where id = $1`, [
        mailboxId,
        hashCredential(newCredential('mailboxToken'), services.pepper),
      ]);
    await sql.query(`delete from mailbox_token where id = $1`, [tokenId]);
    await announceMailboxAccess(sql, mailboxId);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'mailbox.token_revoked',
      targetId: mailboxId,
      details: { tokenId, name: row.name },
    });
  });
}

/** Locks the mailbox, so that changes of its tokens happen one after another. @throws {CatalogueError} not_found */
async function lockedTokens(sql: Sql, organizationId: string, mailboxId: string): Promise<{ count: number }> {
  const [mailbox] = await sql.query(
    `select 1 from mailboxes where organization_id = $1 and id = $2 and deleted_at is null for no key update`,
    [organizationId, mailboxId],
  );
  if (mailbox === undefined) throw new CatalogueError('not_found');
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from mailbox_token where mailbox_id = $1`,
    [mailboxId],
  );
  return row ?? { count: 0 };
}
