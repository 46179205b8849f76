/** Who may call a route: as security schemes of the OpenAPI document, and as a sentence. */

import { type AuthRule, type RouteInfo, tokenNeedOf } from '#api/http/route.ts';
import { TOKEN_ACCESSES, type TokenNeed, tokenAllows } from '#domain/organizations/mailbox-tokens.ts';

export const SECURITY_SCHEMES = {
  organizationKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-organization-key',
    description: 'API key of an organization, `amk_…`, within its scopes.',
  },
  session: { type: 'http', scheme: 'bearer', description: 'Session of a signed-in person, `ams_…`.' },
  mailboxToken: { type: 'http', scheme: 'bearer', description: 'Token of one mailbox, `amt_…`.' },
  approvalLink: {
    type: 'http',
    scheme: 'bearer',
    description: 'Token of the link in a notice about held mail, `aml_…`. It opens one request for one member.',
  },
  operatorKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-operator-key',
    description: 'Credential of the operator of this instance.',
  },
} as const;

type SchemeName = keyof typeof SECURITY_SCHEMES;

/** The schemes that a route accepts, each enough alone; none for public routes. */
export function schemesOf(auth: AuthRule): readonly SchemeName[] {
  if (auth === 'public') return [];
  if (auth === 'operator' || auth === 'instance') return ['operatorKey'];
  if (auth === 'mailbox_token') return ['mailboxToken'];
  if (auth === 'approval_link') return ['approvalLink'];
  if (auth === 'session' || 'role' in auth) return ['session'];
  return auth.mailboxToken === true ? ['organizationKey', 'session', 'mailboxToken'] : ['organizationKey', 'session'];
}

/** The accesses that a mailbox token needs for a route; empty if any is enough. */
function accessNote(need: TokenNeed): string {
  const allowed = TOKEN_ACCESSES.filter((access) => tokenAllows(access, need));
  return allowed.length === TOKEN_ACCESSES.length
    ? ''
    : ` with access ${allowed.map((each) => `\`${each}\``).join(' or ')}`;
}

/** A sentence about who may call a route. */
export function accessText({ auth, method, tokenNeeds }: Pick<RouteInfo, 'auth' | 'method' | 'tokenNeeds'>): string {
  if (auth === 'public') return 'No credential needed.';
  if (auth === 'operator' || auth === 'instance') return 'Operator key.';
  const needed = accessNote(tokenNeedOf({ method, tokenNeeds }));
  if (auth === 'mailbox_token') return `Mailbox token${needed}.`;
  if (auth === 'approval_link') return 'The link of a notice.';
  if (auth === 'session') return 'Session.';
  if ('role' in auth) return `Session of a member with role ${auth.role}${auth.role === 'owner' ? '' : ' or above'}.`;
  const token = auth.mailboxToken === true ? `, or a token of this mailbox${needed}` : '';
  return `API key with scope \`${auth.scope}\`, or a session${token}.`;
}
