/**
 * The first organization of an installation: on the plan `unlimited`, with an owner and an API key of every scope, so
 * that somebody can sign in. Created only if there is no organization at all.
 *
 *   none ──make──▶ waiting for its owner ──first sign-in──▶ in use
 *                   │        ▲
 *                   └─ renew ┘   each start or migration sets a new valid password of the owner
 *
 * Its credentials are shown by the process that makes it, whose output may be lost. So until a member has signed in once,
 * every later start or migration shows credentials that hold: those it was given, or, where only their hashes are known,
 * new ones in their place. After the first sign-in nothing is shown or changed any more.
 */

import { hashPassword, verifyPassword } from '#core/accounts/sign-in.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import { NEW_ORGANIZATION_SCREENING } from '#domain/mail/screening.ts';
import { NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES } from '#domain/sending/unknown-senders.ts';
import type { FirstCredentials } from './secrets-file.ts';

const NAME = 'My organization';
const SLUG = 'my-organization';
const KEY_NAME = 'First key';

export interface FirstOrganization {
  /** `made` now, `renewed`: it waits for its owner, whose credentials are these; `in_use`: a member has signed in. */
  readonly state: 'made' | 'renewed' | 'in_use';
  readonly organizationId: string;
  /** Undefined if no account has that address. */
  readonly email: string | undefined;
  /** Undefined when the database knows another password. */
  readonly password: string | undefined;
  /** Undefined if it was revoked, is of another database, or was used already and cannot be shown again. */
  readonly apiKey: string | undefined;
}

/** Makes the first organization if there is none; otherwise see above. Safe to call from several processes at once. */
export async function ensureFirstOrganization(
  services: Services,
  credentials: FirstCredentials,
): Promise<FirstOrganization> {
  const passwordHash = await hashPassword(credentials.password);
  return services.db.transaction(async (sql) => {
    await sql.query(`select pg_advisory_xact_lock(hashtext('first organization'))`);
    const [first] = await sql.query<{ id: string }>('select id from organizations order by id limit 1');
    if (first === undefined) {
      const organizationId = await create(services, sql, credentials, passwordHash);
      return { ...credentials, state: 'made', organizationId };
    }
    const [owner] = await sql.query<Owner>(OWNER, [first.id]);
    const known = await recognize(services, sql, first.id, credentials);
    if (owner === undefined || owner.signedIn) return { ...known, state: 'in_use' };
    return renew(services, sql, owner, credentials, passwordHash);
  });
}

async function create(
  services: Services,
  sql: Sql,
  credentials: FirstCredentials,
  passwordHash: string,
): Promise<string> {
  const [organizationId, userId] = [newId('organization'), newId('user')];
  await sql.query('insert into organizations (id, name, slug, plan, settings) values ($1, $2, $3, $4, $5)', [
    organizationId,
    NAME,
    SLUG,
    'unlimited',
    JSON.stringify({
      screening: NEW_ORGANIZATION_SCREENING,
      askAfterReadingMinutes: NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES,
    }),
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
  await createKey(services, sql, organizationId, credentials.apiKey);
  return organizationId;
}

async function createKey({ pepper }: Services, sql: Sql, organizationId: string, apiKey: string): Promise<void> {
  await sql.query(
    'insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, $3, $4, $5, $6)',
    [
      newId('apiKey'),
      organizationId,
      KEY_NAME,
      hashCredential(apiKey, pepper),
      credentialHint(apiKey),
      [...API_SCOPES],
    ],
  );
}

interface Owner {
  readonly organizationId: string;
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Any member of the organization has signed in. */
  readonly signedIn: boolean;
}

/** Locked, so that a concurrent sign-in is before or after. */
const OWNER = `
  select m.organization_id as "organizationId", u.id as "userId", u.email, u.password_hash as "passwordHash",
         exists (select from members other join users p on p.id = other.user_id
                  where other.organization_id = m.organization_id and p.first_signed_in_at is not null) as "signedIn"
    from members m join users u on u.id = m.user_id
   where m.organization_id = $1 and m.role = 'owner' order by m.id limit 1 for update of u`;

/** Which of the credentials are still valid. */
async function recognize(
  services: Services,
  sql: Sql,
  firstId: string,
  credentials: FirstCredentials,
): Promise<Omit<FirstOrganization, 'state'>> {
  const [user] = await sql.query<{ password_hash: string }>('select password_hash from users where email = $1', [
    credentials.email.toLowerCase(),
  ]);
  const key = await findKey(services, sql, credentials.apiKey);
  const passwordHolds = user !== undefined && (await verifyPassword(credentials.password, user.password_hash));
  return {
    organizationId: key?.organization_id ?? firstId,
    email: user === undefined ? undefined : credentials.email,
    password: passwordHolds ? credentials.password : undefined,
    apiKey: key === undefined ? undefined : credentials.apiKey,
  };
}

async function findKey(
  { pepper }: Services,
  sql: Sql,
  apiKey: string,
): Promise<{ organization_id: string } | undefined> {
  const [key] = await sql.query<{ organization_id: string }>(
    'select organization_id from api_keys where key_hash = $1 and (expires_at is null or expires_at > now())',
    [hashCredential(apiKey, pepper)],
  );
  return key;
}

/** Gives the owner the password, and replaces the organization's first key, unless that was used already. */
async function renew(
  services: Services,
  sql: Sql,
  owner: Owner,
  { password, apiKey }: FirstCredentials,
  passwordHash: string,
): Promise<FirstOrganization> {
  const { organizationId, userId, email } = owner;
  if (!(await verifyPassword(password, owner.passwordHash)))
    await sql.query('update users set password_hash = $2, updated_at = now() where id = $1', [userId, passwordHash]);
  let keyHolds = (await findKey(services, sql, apiKey)) !== undefined;
  if (!keyHolds) {
    const firstKeys = await sql.query<{ id: string; used: boolean }>(
      `select id, last_used_at is not null as used from api_keys
        where organization_id = $1 and name = $2 and created_by is null`,
      [organizationId, KEY_NAME],
    );
    if (firstKeys.every(({ used }) => !used)) {
      await sql.query('delete from api_keys where id = any($1::text[])', [firstKeys.map(({ id }) => id)]);
      await createKey(services, sql, organizationId, apiKey);
      keyHolds = true;
    }
  }
  return { state: 'renewed', organizationId, email, password, apiKey: keyHolds ? apiKey : undefined };
}
