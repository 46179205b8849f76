import { roleIncludes } from '../domain/api-scopes.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { Principal } from './principal.ts';
import type { AuthRule } from './route.ts';

/**
 * Whether a principal may call a route with this rule. What a rule cannot say (whose row it is) is left to the queries,
 * all of which carry the organization.
 *
 * @param pathId the path's `:id`, for the rule that lets a mailbox token at its own mailbox
 * @throws {CatalogueError} forbidden, insufficient_scope; not_found for a mailbox token at another mailbox
 */
export function authorize(rule: AuthRule, principal: Principal, pathId: string | undefined): void {
  if (rule === 'public') return;
  if (rule === 'operator' || rule === 'instance')
    return requireKind(principal, 'operator', 'the operator key (x-operator-key)');
  if (rule === 'session') return requireKind(principal, 'user', 'a signed-in person (Authorization: Bearer ams_…)');
  if (rule === 'mailbox_token')
    return requireKind(principal, 'mailbox', 'a mailbox token (Authorization: Bearer amt_…)');
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
    if (principal.scopes.includes(rule.scope)) return;
    throw new CatalogueError('insufficient_scope', `This key lacks the scope ${rule.scope}.`, {
      fix: `Use a key with the scope ${rule.scope}, or let an admin add it: PATCH /api/keys/:id.`,
    });
  }
  if (principal.kind === 'mailbox' && rule.mailboxToken === true) {
    if (principal.id === pathId) return;
    throw new CatalogueError('not_found');
  }
  throw new CatalogueError('forbidden', 'This needs an API key (x-organization-key) or a session.');
}

function requireKind(principal: Principal, kind: Principal['kind'], wanted: string): void {
  if (principal.kind !== kind) throw new CatalogueError('forbidden', `This needs ${wanted}.`);
}
