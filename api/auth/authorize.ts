import type { Principal } from '#api/http/principal.ts';
import { type AuthRule, type RouteInfo, tokenNeedOf } from '#api/http/route.ts';
import { type ApiScope, roleIncludes } from '#domain/access/api-scopes.ts';
import { CatalogueError } from '#domain/errors.ts';
import { reaches, tokenAllows } from '#domain/organizations/mailboxes.ts';
import { LINK_NEEDS_SIGN_IN } from './credential-lookup.ts';

/**
 * Whether a principal may call a route with this rule. The owner of a row is checked by the queries, all of which
 * contain the organization.
 *
 * @param pathId the path's `:id`, for the rule that allows a mailbox token to access its own mailbox
 * @throws {CatalogueError} forbidden, insufficient_scope; not_found for a mailbox token at another mailbox
 */
export function authorize(rule: AuthRule, principal: Principal, pathId: string | undefined): void {
  if (rule === 'public') return;
  if (rule === 'operator' || rule === 'instance')
    return requireKind(principal, 'operator', 'the operator key (x-operator-key)');
  if (rule === 'session') return requireKind(principal, 'user', 'a signed-in person (Authorization: Bearer ams_…)');
  if (rule === 'mailbox_token')
    return requireKind(principal, 'mailbox', 'a mailbox token (Authorization: Bearer amt_…)');
  if (rule === 'approval_link')
    return requireKind(principal, 'approval_link', 'the link of a notice (Authorization: Bearer aml_…)');
  if ('role' in rule) {
    requireKind(principal, 'user', `a signed-in ${rule.role} (Authorization: Bearer ams_…)`);
    if (principal.kind === 'user' && (principal.role === null || !roleIncludes(principal.role, rule.role)))
      throw new CatalogueError('forbidden', `This needs the role ${rule.role}; yours is ${principal.role ?? 'none'}.`, {
        fix: `Ask somebody with the role ${rule.role} to do it, or an owner to give you the role.`,
      });
    return;
  }
  if (principal.kind === 'user') return;
  if (principal.kind === 'api_key') {
    requireScope(principal, rule.scope);
    return;
  }
  if (principal.kind === 'mailbox' && rule.mailboxToken === true) {
    if (principal.id === pathId) return;
    throw new CatalogueError('not_found');
  }
  throw new CatalogueError('forbidden', 'This needs an API key (x-organization-key) or a session.');
}

/**
 * A scope that a request needs beside that of its route. Other principals pass.
 *
 * @param why one sentence
 * @throws {CatalogueError} insufficient_scope
 */
export function requireScope(principal: Principal, scope: ApiScope, why = ''): void {
  if (principal.kind !== 'api_key' || principal.scopes.includes(scope)) return;
  throw new CatalogueError('insufficient_scope', `This key lacks the scope ${scope}. ${why}`.trim(), {
    fix: `Use a key with the scope ${scope}, or let an admin add it: PATCH /api/keys/:id.`,
  });
}

/**
 * Checks that a mailbox token has the access that a route needs: `read` for a GET and `change` for other methods, unless
 * the route has `tokenNeeds`. Other principals pass.
 *
 * @throws {CatalogueError} insufficient_scope
 */
export function requireTokenAccess(principal: Principal, route: RouteInfo): void {
  if (principal.kind !== 'mailbox') return;
  if (tokenAllows(principal.access, tokenNeedOf(route))) return;
  if (principal.grant !== undefined)
    throw new CatalogueError('insufficient_scope', `This program was connected with the access ${principal.access}.`, {
      fix: 'Ask the person to connect the program again with the access it needs.',
    });
  throw new CatalogueError('insufficient_scope', `This mailbox token may only ${principal.access}.`, {
    fix: 'Use a token with the access it needs, or ask a member of the organization for one: POST /api/mailboxes/:id/tokens.',
  });
}

/**
 * Checks that a person whose session lacks the second factor that the organization requires only reads. Every change is
 * refused, and not decisions alone: with keys, settings or members decisions could be gained (docs/adr/0080). The link of
 * a notice is no second factor.
 *
 * @throws {CatalogueError} second_factor_required
 */
export function requireSecondFactor(principal: Principal, { method }: RouteInfo): void {
  if ((principal.kind !== 'user' && principal.kind !== 'approval_link') || !principal.missesSecondFactor) return;
  if (method === 'GET') return;
  throw new CatalogueError(
    'second_factor_required',
    'The organization requires a second factor: without one you can read, and change nothing.',
    principal.kind === 'approval_link' ? { fix: LINK_NEEDS_SIGN_IN } : {},
  );
}

/**
 * Checks that an API key which is limited to groups of mailboxes may call a route. Either the path names a mailbox in a
 * group of the key, or something that belongs to one, or the handler limits itself to those mailboxes (`limitedKeys`).
 *
 * @throws {CatalogueError} not_found; insufficient_scope for routes about the whole organization
 */
export function requireReach(principal: Principal, route: RouteInfo): void {
  if (principal.kind !== 'api_key' || principal.reach === null || route.limitedKeys === true) return;
  if (!namesMailbox(route.path))
    throw new CatalogueError(
      'insufficient_scope',
      'This key is limited to groups of mailboxes, and this request is about more than those.',
      {
        fix: 'Use a key without mailboxGroups.',
      },
    );
  if (!principal.reachesPath) throw new CatalogueError('not_found');
}

/** Paths whose `:id` is a mailbox, or belongs to one (`REACHES_PATH` in authenticate.ts). */
const namesMailbox = (path: string): boolean => /^\/api\/(?:mailboxes|consents)\/:id(?:\/|$)/.test(path);

/** The group of a mailbox that a key limited to groups makes or changes. @throws {CatalogueError} insufficient_scope */
export function requireGroup(principal: Principal, group: string | null): void {
  if (principal.kind !== 'api_key' || reaches(principal.reach, group)) return;
  throw new CatalogueError(
    'insufficient_scope',
    'This key is limited to groups of mailboxes, and this is not one of them.',
    {
      details: [{ path: '/group', message: `must be one of ${(principal.reach ?? []).join(', ')}` }],
    },
  );
}

function requireKind(principal: Principal, kind: Principal['kind'], wanted: string): void {
  if (principal.kind !== kind) throw new CatalogueError('forbidden', `This needs ${wanted}.`);
}
