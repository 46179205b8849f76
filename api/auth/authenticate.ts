/**
 * From the credential in the headers to a principal and its organization.
 *
 * Credentials: session (cookie or bearer), API key, mailbox token, access token of a program with access by OAuth (valid
 * at `/mcp` only), and the link of a notice, which is alive while its request waits and its member is one.
 *
 * Each credential costs one prepared query by its hash; one with a wrong checksum costs none. For API keys and mailbox
 * tokens the same query counts the request in the limit of the organization. Unknown, revoked and expired credentials get
 * the same answer, so that it does not reveal which ones exist. Only links of notices say how they ended.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isFromThisProcess } from '#api/http/in-process-fetch.ts';
import type { ActiveOrganization, ApprovalPrincipal, MailboxPrincipal, Principal } from '#api/http/principal.ts';
import { API_USE_KEY, API_WINDOW_MS, LIMITED_PLANS, limitOperatorKeys } from '#api/http/rate-limit.ts';
import type { AuthRule } from '#api/http/route.ts';
import { noteLogin } from '#core/mailboxes/mailbox-logins.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { shownAs } from '#db/queries/mailboxes/status-now.ts';
import { countingFound, type FoundCount, foundCount, type UseCount } from '#db/queries/platform/count-use.ts';
import type { ApiScope } from '#domain/access/api-scopes.ts';
import { isCredential } from '#domain/access/credential-format.ts';
import { grantSuffices } from '#domain/access/second-factor.ts';
import { CatalogueError } from '#domain/errors.ts';
import { EXPIRED_MAILBOX_GRACE_DAYS } from '#domain/mail/mail-retention.ts';
import type { MailboxStatus, TokenAccess } from '#domain/organizations/mailboxes.ts';
import type { ConsentStatus } from '#domain/sending/consent.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { authenticateSession } from './authenticate-session.ts';
import {
  anyOrganizationOf,
  chooseOrganization,
  invalidCredential,
  LAST_USED_INTERVAL_MS,
  LINK_NEEDS_SIGN_IN,
  ORGANIZATION_COLUMNS,
  type OrganizationColumns,
  organizationOf,
  touch,
  unauthenticated,
  wrongOrganization,
} from './credential-lookup.ts';

interface LinkRow extends OrganizationColumns {
  readonly id: string;
  readonly consent_id: string;
  readonly expires_at: Date;
  readonly status: ConsentStatus;
  readonly returned: boolean;
  readonly decided_by: Actor | null;
  readonly request_expires_at: Date;
  /** Why the message went to nobody, as its recipients say it. */
  readonly ended_as: string | null;
  readonly user_id: string;
  readonly user_name: string;
  readonly email: string;
}

const FIND_APPROVAL_LINK = `
  select l.id, l.consent_id, l.expires_at, c.status, c.returned, c.decided_by, c.expires_at as request_expires_at,
         (select r.reply from outbound_recipient r where r.message_id = c.message_id and r.status = 'denied' limit 1) as ended_as,
         u.id as user_id, u.name as user_name, u.email, ${ORGANIZATION_COLUMNS}
    from approval_links l
    join consent c on c.id = l.consent_id and c.organization_id = l.organization_id
    join members m on m.id = l.member_id and m.organization_id = l.organization_id
    join users u on u.id = m.user_id
    join organizations o on o.id = l.organization_id
   where l.token_hash = $1`;

/**
 * @param again whether the member who has decided may come once more, as to a POST whose answer was lost
 * @throws {CatalogueError} unauthenticated
 */
async function authenticateApprovalLink(
  services: Services,
  token: string,
  again: boolean,
): Promise<{ principal: ApprovalPrincipal; organization: ActiveOrganization }> {
  if (!isCredential('approvalLink', token))
    throw new CatalogueError('unauthenticated', 'The link is not well-formed; was it copied in full?');
  const [row] = await services.db.query<LinkRow>(FIND_APPROVAL_LINK, [hashCredential(token, services.pepper)]);
  if (row === undefined)
    throw new CatalogueError(
      'unauthenticated',
      'The approval link is not valid: it is unknown, or ended with a change of role, password or membership.',
      { fix: 'Sign in to see the request, or open the newest mail about it.' },
    );
  const nowMs = services.now();
  const decided = ownDecision(row);
  const alive = row.expires_at.getTime() > nowMs && (row.status === 'pending' || (again && decided !== null));
  const policy = row.organization_second_factor ?? 'off';
  if (policy === 'everyone') throw new CatalogueError('second_factor_required', undefined, { fix: LINK_NEEDS_SIGN_IN });
  if (!alive || (row.status === 'pending' && row.request_expires_at.getTime() <= nowMs)) throw endedLink(row, decided);
  return {
    principal: {
      kind: 'approval_link',
      id: row.id,
      consentId: row.consent_id,
      userId: row.user_id,
      name: row.user_name,
      email: row.email,
      expiresAt: row.expires_at,
      missesSecondFactor: policy !== 'off',
      decided,
    },
    organization: organizationOf(row),
  };
}

/** What the member of the link has decided; null: nothing. */
function ownDecision({ status, returned, decided_by: by, user_id, ended_as }: LinkRow): ApprovalPrincipal['decided'] {
  if (status === 'pending' || by?.type !== 'user' || by.id !== user_id) return null;
  if (returned) return 'returned';
  return status === 'approved' || ended_as === DENIED ? status : null;
}

/** `outbound_recipient.reply` of mail that a person denied. */
const DENIED = 'consent_denied';
const ENDS: Readonly<Record<string, string>> = {
  consent_expired: 'The link has expired: nobody decided about the message in time.',
  cancelled: 'The sender took the message back: there is nothing to decide any more.',
  mailbox_not_active: 'The mailbox that wrote the message sends no more: there is nothing to decide any more.',
};

/** The answer to the member of a link who has decided. */
export const usedLink = (decided: 'approved' | 'denied' | 'returned'): CatalogueError =>
  endOf(`The link was used: the message was ${decided === 'returned' ? 'sent back' : decided}.`);

function endedLink({ status, returned, ended_as }: LinkRow, decided: ApprovalPrincipal['decided']): CatalogueError {
  if (decided !== null) return usedLink(decided);
  if (status === 'pending') return endOf('The link has expired.');
  return endOf(
    (status === 'denied' ? ENDS[ended_as ?? ''] : undefined) ??
      `Somebody else has ${returned ? 'sent back' : status} the message already.`,
  );
}

const endOf = (message: string): CatalogueError =>
  new CatalogueError('unauthenticated', message, { fix: 'Sign in to see the request and what was decided.' });

interface OAuthColumns extends OrganizationColumns, FoundCount {
  id: string;
  name: string;
  address: string;
  status: MailboxStatus;
  grant_id: string;
  access: TokenAccess;
  resource: string;
  is_proven: boolean;
  is_used_lately: boolean;
}

/** Counted: the request of a valid token, about its own mailbox. */
const FIND_OAUTH_TOKEN = countingFound(/* sql */ `
  select x.id, x.name, x.address, ${shownAs('x')} as status, g.id as grant_id, g.access, g.resource,
         g.second_factor_at is not null as is_proven, ${ORGANIZATION_COLUMNS},
         ${API_USE_KEY} as use_key,
         g.last_used_at > to_timestamp($1::bigint / 1000.0) - interval '1 minute' as is_used_lately,
         ($5::bool or x.id = $6::text) and ${shownAs('x')} not in ('suspended', 'expired') and o.suspended_at is null and o.plan = any($4::text[]) as is_counted
    from oauth_tokens t join oauth_grants g on g.id = t.grant_id
    join mailboxes x on x.id = g.mailbox_id and x.deleted_at is null
    join organizations o on o.id = g.organization_id
    join members m on m.organization_id = g.organization_id and m.user_id = g.user_id
   where t.hash = $3 and t.kind = 'access' and t.expires_at > to_timestamp($1::bigint / 1000.0)`);

/** @throws {CatalogueError} unauthenticated; forbidden, if the mailbox is suspended or has expired */
async function authenticateOAuthToken(
  services: Services,
  token: string,
  counted: { readonly anyMailbox: boolean; readonly mailboxId: string | null } | undefined,
): Promise<{
  readonly principal: MailboxPrincipal;
  readonly organization: ActiveOrganization;
  readonly counted: UseCount | undefined;
}> {
  const now = services.now();
  const [row] = isCredential('oauthAccess', token)
    ? await services.db.query<OAuthColumns>(FIND_OAUTH_TOKEN, [
        now,
        now + API_WINDOW_MS,
        hashCredential(token, services.pepper),
        LIMITED_PLANS,
        counted?.anyMailbox ?? false,
        counted?.mailboxId ?? null,
      ])
    : [];
  if (row === undefined)
    throw new CatalogueError('unauthenticated', 'The access token is not valid: it is unknown, revoked or expired.', {
      fix: 'Get another one with the refresh token, or ask the person for access again.',
    });
  refuseClosed(row.status);
  const organization = organizationOf(row);
  // As unknown ones, so that the program asks the person again.
  if (!grantSuffices(row.organization_second_factor ?? 'off', row.is_proven, row.access))
    throw new CatalogueError(
      'unauthenticated',
      'The access token is not valid: the organization requires a second factor, which the person who connected the program had not proven.',
      { fix: 'Connect the program again, signed in with a second factor.' },
    );
  noteLogin(services, { mailboxId: row.id, tokenId: row.grant_id }, 'api');
  if (row.is_used_lately !== true)
    services.db
      .query(`update oauth_grants set last_used_at = $2 where id = $1`, [row.grant_id, new Date(now)])
      .catch((error: Error) => services.log.debug({ error: error.message }, 'the use of a grant was not written'));
  return {
    principal: {
      kind: 'mailbox',
      id: row.id,
      credentialId: row.grant_id,
      name: row.name,
      address: row.address,
      access: row.access,
      grant: { resource: row.resource },
    },
    organization,
    counted: foundCount(row, now),
  };
}

export interface Authenticated {
  readonly principal: Principal;
  readonly organization: ActiveOrganization | null;
  /** The count of its requests with this one, if the look-up made it. */
  readonly counted?: UseCount | undefined;
}

interface AuthenticateOptions {
  /** Whether the link of a notice may come once more after its member has decided. Default: no. */
  readonly again?: boolean;
  /** Counts the request in the limit of the organization, if the credential allows it (`authorize.ts`). Default: no. */
  readonly count?: { readonly pathId: string | undefined } | undefined;
  /** Where the request comes from: wrong operator keys are counted by it. */
  readonly ipAddress?: string;
  /** What the path names: for keys that are limited to groups of mailboxes. */
  readonly subjectId?: string | undefined;
  /** The request came to `/mcp`: there, and for what its tools do, access tokens of OAuth are valid. Default: no. */
  readonly atMcp?: boolean;
}

const BEARER = /^bearer +(\S+)$/i;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/**
 * @throws {CatalogueError} unauthenticated; invalid_request about several credentials or the choice of organization;
 * forbidden without any organization, of a suspended one, and for the token of a suspended mailbox
 */
export async function authenticate(
  services: Services,
  rule: AuthRule,
  headers: IncomingHttpHeaders,
  { again = false, count, subjectId, ipAddress = '', atMcp = false }: AuthenticateOptions = {},
): Promise<Authenticated> {
  if (rule === 'public') return { principal: { kind: 'public' }, organization: null };
  requireOneCredential(headers);
  const chosenOrganization = single(headers['x-organization-id']);
  const operatorKey = single(headers['x-operator-key']);
  if (operatorKey !== undefined) {
    if (!(await limitOperatorKeys(services, ipAddress, () => isOperatorKey(services, operatorKey))))
      throw invalidCredential('operator key');
    return authenticateOperator(services, rule, chosenOrganization);
  }
  const organizationKey = single(headers['x-organization-key']);
  if (organizationKey !== undefined) {
    const found = await authenticateApiKey(services, organizationKey, {
      countedScope: count && scopeOf(rule),
      chosen: chosenOrganization,
      subjectId,
    });
    if (chosenOrganization !== undefined && chosenOrganization !== found.organization?.id)
      throw wrongOrganization('names another organization than the key');
    return found;
  }
  const [, bearer] = BEARER.exec(headers.authorization ?? '') ?? [];
  if (bearer === undefined)
    throw atMcp ? unauthenticated('No valid credential was sent.', MCP_ACCEPTS) : unauthenticated();
  if (bearer.startsWith('ams_')) return authenticateSession(services, rule, bearer, chosenOrganization);
  if (bearer.startsWith('amt_'))
    return authenticateMailboxToken(services, bearer, count && ownMailbox(rule, count.pathId));
  if (bearer.startsWith('ama_')) {
    if (!atMcp && !isFromThisProcess(headers))
      throw new CatalogueError('forbidden', 'An access token of OAuth is accepted at /mcp only.', {
        fix: 'Use a mailbox token (Authorization: Bearer amt_…) or an API key.',
      });
    return authenticateOAuthToken(services, bearer, count && ownMailbox(rule, count.pathId));
  }
  if (bearer.startsWith('aml_')) return authenticateApprovalLink(services, bearer, again);
  if (atMcp)
    throw unauthenticated(
      'The Bearer credential is neither a mailbox token nor an access token of OAuth.',
      MCP_ACCEPTS,
    );
  throw (
    misplaced(bearer, 'authorization') ??
    unauthenticated('The Bearer credential is neither a session, a mailbox token nor an approval link.')
  );
}

const MCP_ACCEPTS =
  'Sign in with the host, by the metadata that WWW-Authenticate names (OAuth), or send a mailbox token: Authorization: Bearer amt_…. API keys and sessions are not accepted here.';

/** Which credential is sent in which header. */
const PLACES: readonly (readonly [prefix: string, name: string, header: string, example: string])[] = [
  ['amk_', 'An API key', 'x-organization-key', 'x-organization-key: amk_…'],
  ['amt_', 'A mailbox token', 'authorization', 'Authorization: Bearer amt_…'],
  ['ams_', 'A session', 'authorization', 'Authorization: Bearer ams_…'],
  ['ama_', 'An access token of OAuth', 'authorization', 'Authorization: Bearer ama_…, at /mcp'],
  ['amo_', 'An operator key', 'x-operator-key', 'x-operator-key: amo_…'],
];

/** What a credential is that stands in the header of another kind. */
function misplaced(credential: string, header: string): CatalogueError | undefined {
  const place = PLACES.find(([prefix]) => credential.startsWith(prefix));
  if (place === undefined || place[2] === header) return undefined;
  const [, name, , example] = place;
  return unauthenticated(`${name} is not accepted in the header ${header}.`, `Send it as ${example}.`);
}

/** Two credentials may belong to different people or organizations, and it would be unclear which of them acted. */
function requireOneCredential(headers: IncomingHttpHeaders): void {
  const sent = [
    ...(headers['x-operator-key'] === undefined ? [] : ['x-operator-key']),
    ...(headers['x-organization-key'] === undefined ? [] : ['x-organization-key']),
    // Other schemes are of proxies in front.
    ...(/^bearer\b/i.test(headers.authorization ?? '') ? ['authorization'] : []),
  ];
  if (sent.length > 1)
    throw new CatalogueError('invalid_request', 'The request contains more than one credential.', {
      details: sent.map((name) => ({ path: `header/${name}`, message: 'is one of several credentials' })),
      fix: 'Send only one of these headers.',
    });
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compared in constant time. */
function isOperatorKey({ settings }: Services, key: string): boolean {
  const expected = settings.OPERATOR_KEY;
  return expected !== undefined && timingSafeEqual(digest(key), digest(expected));
}

async function authenticateOperator(
  services: Services,
  rule: AuthRule,
  chosen: string | undefined,
): Promise<Authenticated> {
  // The key is valid for any route; what it may do is a question of authorization.
  if (rule !== 'operator') return { principal: { kind: 'operator' }, organization: null };
  const rows = await services.db.query<OrganizationColumns>(
    `select ${ORGANIZATION_COLUMNS} from organizations o where $1::text is null or o.id = $1 order by o.id limit 2`,
    [chosen ?? null],
  );
  return { principal: { kind: 'operator' }, organization: anyOrganizationOf(chooseOrganization(rows, chosen)) };
}

/** The scope that a key needs for a route; undefined: no key may call it. */
const scopeOf = (rule: AuthRule): ApiScope | undefined =>
  typeof rule === 'object' && 'scope' in rule ? rule.scope : undefined;

/** The mailbox whose token may call a route. */
const ownMailbox = (rule: AuthRule, pathId: string | undefined) => ({
  anyMailbox: rule === 'mailbox_token',
  mailboxId: typeof rule === 'object' && 'scope' in rule && rule.mailboxToken === true ? (pathId ?? null) : null,
});

interface ApiKeyColumns extends OrganizationColumns, FoundCount {
  id: string;
  name: string;
  scopes: ApiScope[];
  mailbox_groups: string[] | null;
  reaches_path: boolean;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** The mailbox that `$7` is, or belongs to, is in a group of the key. */
const REACHES_PATH = /* sql */ `
  k.mailbox_groups is null or exists (
    select from mailboxes x
     where x.organization_id = k.organization_id and x.group_name = any(k.mailbox_groups) and x.deleted_at is null
       and x.id = case when left($7::text, 4) = 'con_' then (select c.mailbox_id from consent c where c.id = $7)
                       else $7 end)`;

/** Counted: the request of a valid key with the scope of the route. */
const FIND_API_KEY = countingFound(/* sql */ `
  select k.id, k.name, k.scopes, k.mailbox_groups, (${REACHES_PATH}) as reaches_path, k.expires_at, k.last_used_at, ${ORGANIZATION_COLUMNS}, ${API_USE_KEY} as use_key,
         $5::text = any(k.scopes) and (k.expires_at is null or k.expires_at > to_timestamp($1::bigint / 1000.0))
           and ($6::text is null or o.id = $6) and o.suspended_at is null and o.plan = any($4::text[]) as is_counted
    from api_keys k join organizations o on o.id = k.organization_id where k.key_hash = $3`);

async function authenticateApiKey(
  services: Services,
  key: string,
  {
    countedScope,
    chosen,
    subjectId,
  }: {
    readonly countedScope: ApiScope | undefined;
    readonly chosen: string | undefined;
    readonly subjectId: string | undefined;
  },
): Promise<Authenticated> {
  if (!isCredential('apiKey', key))
    throw (
      misplaced(key, 'x-organization-key') ?? unauthenticated('The API key is not well-formed; was it copied in full?')
    );
  const now = services.now();
  const [row] = await services.db.query<ApiKeyColumns>(FIND_API_KEY, [
    now,
    now + API_WINDOW_MS,
    hashCredential(key, services.pepper),
    LIMITED_PLANS,
    countedScope ?? null,
    chosen ?? null,
    subjectId ?? null,
  ]);
  if (row === undefined || (row.expires_at !== null && row.expires_at.getTime() <= now))
    throw invalidCredential('API key');
  if (row.last_used_at === null || now - row.last_used_at.getTime() >= LAST_USED_INTERVAL_MS)
    touch(services, `update api_keys set last_used_at = $2 where id = $1`, [row.id, new Date(now)]);
  return {
    principal: {
      kind: 'api_key',
      id: row.id,
      name: row.name,
      scopes: row.scopes,
      reach: row.mailbox_groups,
      reachesPath: row.reaches_path,
    },
    organization: organizationOf(row),
    counted: foundCount(row, now),
  };
}

interface MailboxColumns extends OrganizationColumns, FoundCount {
  id: string;
  name: string;
  address: string;
  status: MailboxStatus;
  token_id: string;
  access: TokenAccess;
}

/** Counted: the request of a token that is not suspended, about its own mailbox. */
const FIND_MAILBOX_TOKEN = countingFound(/* sql */ `
  select x.id, x.name, x.address, ${shownAs('x')} as status, t.id as token_id, t.access, ${ORGANIZATION_COLUMNS},
         ${API_USE_KEY} as use_key,
         ($5::bool or x.id = $6::text) and ${shownAs('x')} not in ('suspended', 'expired') and o.suspended_at is null and o.plan = any($4::text[]) as is_counted
    from mailbox_token t join mailboxes x on x.id = t.mailbox_id join organizations o on o.id = x.organization_id
   where t.token_hash = $3 and x.deleted_at is null
     and (t.expires_at is null or t.expires_at > to_timestamp($1::bigint / 1000.0))`);

/** @throws {CatalogueError} forbidden, if the mailbox is suspended or has expired */
function refuseClosed(status: MailboxStatus): void {
  if (status === 'suspended')
    throw new CatalogueError('forbidden', 'The mailbox is suspended: its tokens are refused until it is resumed.', {
      fix: 'Ask a member of the organization to resume the mailbox. Its mail is kept.',
    });
  if (status === 'expired')
    throw new CatalogueError('forbidden', 'The mailbox has expired: its tokens are refused.', {
      fix: `Ask a member of the organization to set a later expiresAt. ${EXPIRED_MAILBOX_GRACE_DAYS} days after its expiry it is deleted with its mail.`,
    });
}

async function authenticateMailboxToken(
  services: Services,
  token: string,
  counted: { readonly anyMailbox: boolean; readonly mailboxId: string | null } | undefined,
): Promise<Authenticated> {
  if (!isCredential('mailboxToken', token)) throw unauthenticated('The mailbox token is not well-formed.');
  const now = services.now();
  const [row] = await services.db.query<MailboxColumns>(FIND_MAILBOX_TOKEN, [
    now,
    now + API_WINDOW_MS,
    hashCredential(token, services.pepper),
    LIMITED_PLANS,
    counted?.anyMailbox ?? false,
    counted?.mailboxId ?? null,
  ]);
  if (row === undefined) throw invalidCredential('mailbox token');
  // As on IMAP, POP3 and SMTP. Here it can be said, because the token is the right one.
  refuseClosed(row.status);
  const organization = organizationOf(row);
  noteLogin(services, { mailboxId: row.id, tokenId: row.token_id }, 'api');
  return {
    principal: {
      kind: 'mailbox',
      id: row.id,
      credentialId: row.token_id,
      access: row.access,
      name: row.name,
      address: row.address,
    },
    organization,
    counted: foundCount(row, now),
  };
}
