/**
 * Who may allow mail to be sent: a person, by a session. An API key may only if the organization set `consentByApiKey`,
 * because an agent with a key must not approve its own mail; a mailbox token never may.
 */

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '#core/platform/caller.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { PlanName } from '#domain/organizations/plans.ts';

/** @throws {CatalogueError} forbidden */
export async function requireDecider(sql: Sql, organizationId: string, { actor }: Caller): Promise<void> {
  if (actor.type === 'user') return;
  const [row] = await sql.query<{ allowed: boolean | null }>(
    `select (settings ->> 'consentByApiKey')::bool as allowed from organizations where id = $1`,
    [organizationId],
  );
  if (actor.type === 'api_key' && row?.allowed === true) return;
  throw new CatalogueError(
    'forbidden',
    'This needs a person: a session of a member. An API key may do it only if the organization sets consentByApiKey.',
  );
}

/**
 * Locks an organization until the transaction ends, so that counts stay valid: concurrent creations cannot both use the
 * last place.
 *
 * @returns its plan; undefined when there is no such organization
 */
export async function lockOrganization(em: EntityManager, organizationId: string): Promise<PlanName | undefined> {
  const [organization] = await sqlOfEntityManager(em).query<{ plan: PlanName }>(
    `select plan from organizations where id = $1 for no key update`,
    [organizationId],
  );
  return organization?.plan;
}
