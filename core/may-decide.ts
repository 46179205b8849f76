/**
 * Who may allow mail to leave. A person does, by a session. An API key may only where the organization set
 * `consentByApiKey`, because an agent that holds a key must not approve itself; a mailbox token never may.
 */
import type { Sql } from '../db/database.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { Caller } from './caller.ts';

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
    'This is for a person: a session of a member. API keys may where the organization sets consentByApiKey.',
  );
}
