/**
 * From the credential in the headers to a principal and its organization.
 *
 * Each credential costs one prepared query by its hash; one with a wrong checksum costs none. Unknown, revoked and
 * expired credentials answer alike, so that an answer tells nothing about which ones exist.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hashCredential } from '../core/credentials.ts';
import type { Services } from '../core/services.ts';
import type { ApiScope, MemberRole } from '../domain/api-scopes.ts';
import { isCredential, SESSION_LIFE_DAYS } from '../domain/credential-format.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { PlanName } from '../domain/plans.ts';
import type { ActiveOrganization, Principal } from './principal.ts';
import type { AuthRule } from './route.ts';

export interface Authenticated {
  readonly principal: Principal;
  readonly organization: ActiveOrganization | null;
}

/** `last_used_at` is written when the one in the row is older than this. */
const LAST_USED_INTERVAL_MS = 60_000;
const DAY_MS = 86_400_000;

interface OrganizationColumns {
  organization_id: string;
  organization_name: string;
  organization_slug: string;
  organization_plan: PlanName;
}

const ORGANIZATION_COLUMNS = `o.id as organization_id, o.name as organization_name, o.slug as organization_slug,
  o.plan as organization_plan`;

const organizationOf = (row: OrganizationColumns): ActiveOrganization => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  plan: row.organization_plan,
});

const unauthenticated = (message?: string, fix?: string): CatalogueError =>
  new CatalogueError('unauthenticated', message, fix === undefined ? {} : { fix });

/** One text for unknown, revoked and expired. */
const invalidCredential = (kind: keyof typeof NEW_CREDENTIAL): CatalogueError =>
  unauthenticated(`The ${kind} is not valid: it is unknown, revoked or expired.`, NEW_CREDENTIAL[kind]);

const NEW_CREDENTIAL = {
  'API key': 'Check that the whole key was copied; if it was, have an admin create another one.',
  session: 'Sign in again: POST /api/sessions.',
  'mailbox token': 'Check that the whole token was copied; if it was, rotate it: POST /api/mailboxes/:id/rotate-token.',
  'operator key': 'Send the OPERATOR_KEY this instance was started with.',
} as const;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/**
 * @throws {CatalogueError} unauthenticated; invalid_request about the choice of organization, forbidden without any
 */
export async function authenticate(
  services: Services,
  rule: AuthRule,
  headers: IncomingHttpHeaders,
): Promise<Authenticated> {
  if (rule === 'public') return { principal: { kind: 'public' }, organization: null };
  const chosenOrganization = single(headers['x-organization-id']);
  const operatorKey = single(headers['x-operator-key']);
  if (operatorKey !== undefined) return authenticateOperator(services, rule, operatorKey, chosenOrganization);
  const organizationKey = single(headers['x-organization-key']);
  if (organizationKey !== undefined) {
    const found = await authenticateApiKey(services, organizationKey);
    if (chosenOrganization !== undefined && chosenOrganization !== found.organization?.id)
      throw wrongOrganization('names another organization than the key');
    return found;
  }
  const [, bearer] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer === undefined) throw unauthenticated();
  if (bearer.startsWith('ams_')) return authenticateSession(services, rule, bearer, chosenOrganization);
  if (bearer.startsWith('amt_')) return authenticateMailboxToken(services, bearer);
  if (bearer.startsWith('amk_'))
    throw unauthenticated(
      'An API key is sent as x-organization-key, not as Bearer.',
      'Send the key in the header x-organization-key.',
    );
  throw unauthenticated('The Bearer credential is neither a session nor a mailbox token.');
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

async function authenticateOperator(
  services: Services,
  rule: AuthRule,
  key: string,
  chosen: string | undefined,
): Promise<Authenticated> {
  const expected = services.settings.OPERATOR_KEY;
  if (expected === undefined || !timingSafeEqual(digest(key), digest(expected)))
    throw invalidCredential('operator key');
  // Whatever the route, the key is genuine; whether it fits is a question of authorization.
  if (rule !== 'operator') return { principal: { kind: 'operator' }, organization: null };
  const rows = await services.db.query<OrganizationColumns>(
    `select ${ORGANIZATION_COLUMNS} from organizations o where $1::text is null or o.id = $1 order by o.id limit 2`,
    [chosen ?? null],
  );
  return { principal: { kind: 'operator' }, organization: chooseOrganization(rows, chosen) };
}

const wrongOrganization = (message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path: 'header/x-organization-id', message }] });

/** The organization named by x-organization-id, or the only one there is. */
function chooseOrganization(rows: readonly OrganizationColumns[], chosen: string | undefined): ActiveOrganization {
  const [row, another] = rows;
  if (row === undefined && chosen !== undefined) throw wrongOrganization('names no organization of yours');
  if (row === undefined)
    throw new CatalogueError('forbidden', 'You are a member of no organization.', {
      fix: 'Ask an admin of an organization to invite you, and accept the invitation.',
    });
  if (another !== undefined && chosen === undefined)
    throw wrongOrganization('is required, because there are several organizations');
  return organizationOf(row);
}

interface ApiKeyColumns extends OrganizationColumns {
  id: string;
  name: string;
  scopes: ApiScope[];
  expires_at: Date | null;
  last_used_at: Date | null;
}

async function authenticateApiKey(services: Services, key: string): Promise<Authenticated> {
  if (!isCredential('apiKey', key)) throw unauthenticated('The API key is not well-formed; was it copied in full?');
  const [row] = await services.db.query<ApiKeyColumns>(
    `select k.id, k.name, k.scopes, k.expires_at, k.last_used_at, ${ORGANIZATION_COLUMNS}
       from api_keys k join organizations o on o.id = k.organization_id where k.key_hash = $1`,
    [hashCredential(key, services.pepper)],
  );
  const now = services.now();
  if (row === undefined || (row.expires_at !== null && row.expires_at.getTime() <= now))
    throw invalidCredential('API key');
  if (row.last_used_at === null || now - row.last_used_at.getTime() >= LAST_USED_INTERVAL_MS)
    touch(services, `update api_keys set last_used_at = $2 where id = $1`, [row.id, new Date(now)]);
  return {
    principal: { kind: 'api_key', id: row.id, name: row.name, scopes: row.scopes },
    organization: organizationOf(row),
  };
}

interface SessionColumns extends OrganizationColumns {
  session_id: string;
  expires_at: Date;
  last_used_at: Date;
  user_id: string;
  user_name: string;
  email: string;
  member_id: string | null;
  role: MemberRole | null;
}

async function authenticateSession(
  services: Services,
  rule: AuthRule,
  token: string,
  chosen: string | undefined,
): Promise<Authenticated> {
  if (!isCredential('session', token)) throw unauthenticated('The session token is not well-formed.');
  const rows = await services.db.query<SessionColumns>(
    `select s.id as session_id, s.expires_at, s.last_used_at, u.id as user_id, u.name as user_name, u.email,
            m.id as member_id, m.role, ${ORGANIZATION_COLUMNS}
       from sessions s join users u on u.id = s.user_id
       left join members m on m.user_id = u.id and ($2::text is null or m.organization_id = $2)
       left join organizations o on o.id = m.organization_id
      where s.token_hash = $1 order by m.id limit 2`,
    [hashCredential(token, services.pepper), chosen ?? null],
  );
  const [row] = rows;
  const now = services.now();
  if (row === undefined || row.expires_at.getTime() <= now) throw invalidCredential('session');
  let expiresAt = row.expires_at;
  if (now - row.last_used_at.getTime() >= LAST_USED_INTERVAL_MS) {
    expiresAt = new Date(now + SESSION_LIFE_DAYS * DAY_MS);
    touch(services, `update sessions set last_used_at = $2, expires_at = $3 where id = $1`, [
      row.session_id,
      new Date(now),
      expiresAt,
    ]);
  }
  const needsOrganization = rule !== 'session';
  const members = rows.filter((each) => each.member_id !== null);
  const active = needsOrganization || members.length === 1 ? members[0] : undefined;
  return {
    principal: {
      kind: 'user',
      id: row.user_id,
      name: row.user_name,
      email: row.email,
      sessionId: row.session_id,
      sessionExpiresAt: expiresAt,
      memberId: active?.member_id ?? null,
      role: active?.role ?? null,
    },
    organization: needsOrganization ? chooseOrganization(members, chosen) : null,
  };
}

interface MailboxColumns extends OrganizationColumns {
  id: string;
  name: string;
  address: string;
}

async function authenticateMailboxToken(services: Services, token: string): Promise<Authenticated> {
  if (!isCredential('mailboxToken', token)) throw unauthenticated('The mailbox token is not well-formed.');
  const [row] = await services.db.query<MailboxColumns>(
    `select x.id, x.name, x.address, ${ORGANIZATION_COLUMNS}
       from mailboxes x join organizations o on o.id = x.organization_id
      where x.token_hash = $1 and x.deleted_at is null`,
    [hashCredential(token, services.pepper)],
  );
  if (row === undefined) throw invalidCredential('mailbox token');
  return {
    principal: { kind: 'mailbox', id: row.id, name: row.name, address: row.address },
    organization: organizationOf(row),
  };
}

/** Notes a use beside the request; should it fail, the next use notes it. */
function touch(services: Services, text: string, values: readonly unknown[]): void {
  services.db
    .query(text, values)
    .catch((error: Error) => services.log.debug({ error: error.message }, 'lastUsedAt was not written'));
}
