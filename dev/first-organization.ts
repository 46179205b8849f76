/**
 * The first organization of an installation: on the plan `unlimited`, with an owner and an API key of every scope, so
 * that there is something to sign in to. Made only where there is no organization at all.
 */
import { credentialHint, hashCredential } from '../core/credentials.ts';
import { newId } from '../core/new-id.ts';
import { hashPassword, verifyPassword } from '../core/passwords.ts';
import type { Services } from '../core/services.ts';
import type { Sql } from '../db/database.ts';
import { API_SCOPES } from '../domain/api-scopes.ts';
import type { FirstCredentials } from './secrets-file.ts';

const NAME = 'My organization';
const SLUG = 'my-organization';

export interface FirstOrganization {
  readonly created: boolean;
  readonly organizationId: string;
  /** Undefined when the database knows another password, or nobody of that address. */
  readonly email: string | undefined;
  readonly password: string | undefined;
  /** Undefined when the key was revoked or comes from another database. */
  readonly apiKey: string | undefined;
}

async function create(
  services: Services,
  sql: Sql,
  credentials: FirstCredentials,
  passwordHash: string,
): Promise<string> {
  const [organizationId, userId] = [newId('organization'), newId('user')];
  await sql.query('insert into organizations (id, name, slug, plan) values ($1, $2, $3, $4)', [
    organizationId,
    NAME,
    SLUG,
    'unlimited',
  ]);
  await sql.query('insert into users (id, email, name, password_hash) values ($1, $2, $3, $4)', [
    userId,
    credentials.email.toLowerCase(),
    'Owner',
    passwordHash,
  ]);
  await sql.query('insert into members (id, organization_id, user_id, role) values ($1, $2, $3, $4)', [
    newId('member'),
    organizationId,
    userId,
    'owner',
  ]);
  await sql.query(
    'insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, $3, $4, $5, $6)',
    [
      newId('apiKey'),
      organizationId,
      'First key',
      hashCredential(credentials.apiKey, services.pepper),
      credentialHint(credentials.apiKey),
      [...API_SCOPES],
    ],
  );
  return organizationId;
}

/** Which of the credentials still hold, in the oldest organization. */
async function recognize(services: Services, credentials: FirstCredentials): Promise<FirstOrganization> {
  const [oldest] = await services.db.query<{ id: string }>('select id from organizations order by id limit 1');
  const [user] = await services.db.query<{ password_hash: string }>(
    'select password_hash from users where email = $1',
    [credentials.email.toLowerCase()],
  );
  const [key] = await services.db.query<{ organization_id: string }>(
    'select organization_id from api_keys where key_hash = $1 and (expires_at is null or expires_at > now())',
    [hashCredential(credentials.apiKey, services.pepper)],
  );
  const passwordHolds = user !== undefined && (await verifyPassword(credentials.password, user.password_hash));
  return {
    created: false,
    organizationId: key?.organization_id ?? oldest?.id ?? '',
    email: user === undefined ? undefined : credentials.email,
    password: passwordHolds ? credentials.password : undefined,
    apiKey: key === undefined ? undefined : credentials.apiKey,
  };
}

/** Makes the first organization if there is none; otherwise says which of the credentials still hold. */
export async function ensureFirstOrganization(
  services: Services,
  credentials: FirstCredentials,
): Promise<FirstOrganization> {
  const someOrganization = 'select id from organizations limit 1';
  if ((await services.db.query(someOrganization)).length > 0) return recognize(services, credentials);
  const passwordHash = await hashPassword(credentials.password);
  const organizationId = await services.db.transaction(async (sql) => {
    // One maker at a time: several processes may start on an empty database at once.
    await sql.query(`select pg_advisory_xact_lock(hashtext('first organization'))`);
    if ((await sql.query(someOrganization)).length > 0) return undefined;
    return create(services, sql, credentials, passwordHash);
  });
  return organizationId === undefined
    ? recognize(services, credentials)
    : { ...credentials, created: true, organizationId };
}
