import type { ApiScope, MemberRole } from '../domain/api-scopes.ts';
import type { Actor } from '../domain/event-envelope.ts';
import type { PlanName } from '../domain/plans.ts';

/** Who sent a request, as told by its credential. */
export type Principal = ApiKeyPrincipal | UserPrincipal | MailboxPrincipal | OperatorPrincipal | PublicPrincipal;

export interface ApiKeyPrincipal {
  readonly kind: 'api_key';
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ApiScope[];
}

/** A person with a session. Member id and role are those in the active organization; null while there is none. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly sessionId: string;
  readonly sessionExpiresAt: Date;
  readonly memberId: string | null;
  readonly role: MemberRole | null;
}

/** A mailbox token: `id` is the mailbox it opens. */
export interface MailboxPrincipal {
  readonly kind: 'mailbox';
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

export interface OperatorPrincipal {
  readonly kind: 'operator';
}

export interface PublicPrincipal {
  readonly kind: 'public';
}

/** The organization a request acts in. */
export interface ActiveOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly plan: PlanName;
}

const NOBODY = { id: null, name: null, email: null, address: null } as const;

/** The principal as actor of events and audit entries. */
export function actorOf(principal: Principal): Actor {
  switch (principal.kind) {
    case 'api_key':
      return { ...NOBODY, type: 'api_key', id: principal.id, name: principal.name };
    case 'user':
      return { type: 'user', id: principal.id, name: principal.name, email: principal.email, address: null };
    case 'mailbox':
      return { type: 'mailbox', id: principal.id, name: principal.name, email: null, address: principal.address };
    case 'operator':
      return { ...NOBODY, type: 'system', name: 'operator' };
    case 'public':
      return { ...NOBODY, type: 'system' };
  }
}

/** Names the sender in tables that are keyed by it, e.g. `api_key:key_…`. */
export const principalKey = (principal: Principal): string =>
  'id' in principal ? `${principal.kind}:${principal.id}` : principal.kind;
