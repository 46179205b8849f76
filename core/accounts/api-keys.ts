import type { EntityManager } from '@mikro-orm/postgresql';
import { announceKeyAccess } from '#core/mailboxes/mailbox-logins.ts';
import { recordAudit } from '#core/organizations/audit.ts';
import { lockOrganization } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { sqlOfEntityManager } from '#db/database.ts';
import { ApiKey, type ApiKeyRow } from '#db/entities.ts';
import type { ApiScope } from '#domain/access/api-scopes.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { Reach } from '#domain/organizations/mailboxes.ts';
import { API_KEYS_MAX } from '#domain/organizations/plans.ts';

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly ApiScope[];
  readonly mailboxGroups: Reach;
  /** Null: never. */
  readonly expiresAt: Date | null;
}

export interface ApiKeyChanges {
  readonly name?: string;
  readonly scopes?: readonly ApiScope[];
  readonly mailboxGroups?: Reach;
  readonly expiresAt?: Date | null;
}

function checkExpiry(services: Services, expiresAt: Date | null | undefined): void {
  if (expiresAt !== null && expiresAt !== undefined && expiresAt.getTime() <= services.now())
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/expiresAt', message: 'must be in the future' }],
    });
}

/** @returns the row and the key itself, which cannot be read again @throws {CatalogueError} invalid_request, conflict (all in use) */
export async function createApiKey(
  services: Services,
  organizationId: string,
  caller: Caller,
  input: NewApiKey,
): Promise<{ row: ApiKeyRow; key: string }> {
  checkExpiry(services, input.expiresAt);
  const key = newCredential('apiKey');
  const now = new Date(services.now());
  const row = await services.db.entityTransaction(async (em) => {
    await takePlace(em, organizationId);
    const created = em.create(ApiKey, {
      id: newId('apiKey', now.getTime()),
      organization: organizationId,
      name: input.name,
      keyHash: hashCredential(key, services.pepper),
      keyHint: credentialHint(key),
      scopes: [...input.scopes],
      mailboxGroups: input.mailboxGroups === null ? null : [...input.mailboxGroups],
      expiresAt: input.expiresAt,
      createdBy: caller.actor.id,
      createdAt: now,
      updatedAt: now,
    });
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'api_key.created',
      targetId: created.id,
      details: { ...input },
    });
    return created;
  });
  return { row, key };
}

/** Counts under the organization's lock, so that concurrent creations cannot both use the last place. */
async function takePlace(em: EntityManager, organizationId: string): Promise<void> {
  await lockOrganization(em, organizationId);
  if ((await em.count(ApiKey, { organization: organizationId })) >= API_KEYS_MAX)
    throw new CatalogueError('conflict', `An organization may have ${API_KEYS_MAX} API keys, and all are in use.`, {
      fix: 'Delete keys that have expired or are not used any more; see lastUsedAt in GET /api/keys.',
    });
}

async function ownKey(em: EntityManager, organizationId: string, keyId: string): Promise<ApiKeyRow> {
  const row = await em.findOne(ApiKey, { id: keyId, organization: organizationId });
  if (row === null) throw new CatalogueError('not_found');
  return row;
}

/** @throws {CatalogueError} not_found */
export const getApiKey = (services: Services, organizationId: string, keyId: string): Promise<ApiKeyRow> =>
  ownKey(services.db.em(), organizationId, keyId);

/** Newest first; one more than `limit`. */
export const listApiKeys = (
  services: Services,
  organizationId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<ApiKeyRow[]> =>
  services.db
    .em()
    .find(
      ApiKey,
      { organization: organizationId, ...(page.after === null ? {} : { id: { $lt: page.after } }) },
      { orderBy: { id: 'desc' }, limit: page.limit + 1 },
    );

/** @throws {CatalogueError} not_found, invalid_request */
export async function updateApiKey(
  services: Services,
  organizationId: string,
  keyId: string,
  caller: Caller,
  changes: ApiKeyChanges,
): Promise<ApiKeyRow> {
  checkExpiry(services, changes.expiresAt);
  return services.db.entityTransaction(async (em) => {
    const row = await ownKey(em, organizationId, keyId);
    if (changes.name !== undefined) row.name = changes.name;
    if (changes.scopes !== undefined) row.scopes = [...changes.scopes];
    const { mailboxGroups } = changes;
    if (mailboxGroups !== undefined) row.mailboxGroups = mailboxGroups === null ? null : [...mailboxGroups];
    if (changes.expiresAt !== undefined) row.expiresAt = changes.expiresAt;
    await announceKeyAccess(sqlOfEntityManager(em), keyId);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'api_key.updated',
      targetId: keyId,
      details: { ...changes },
    });
    return row;
  });
}

/** Revokes a key; it is invalid after the commit. @throws {CatalogueError} not_found */
export async function deleteApiKey(services: Services, organizationId: string, keyId: string, caller: Caller) {
  await services.db.entityTransaction(async (em) => {
    const row = await ownKey(em, organizationId, keyId);
    em.remove(row);
    await announceKeyAccess(sqlOfEntityManager(em), keyId);
    await recordAudit(sqlOfEntityManager(em), caller, {
      organizationId,
      action: 'api_key.deleted',
      targetId: keyId,
      details: { name: row.name },
    });
  });
}
