import type { Caller } from '#core/platform/caller.ts';
import type { ApiScope, MemberRole } from '#domain/access/api-scopes.ts';
import type { Reach, TokenAccess } from '#domain/organizations/mailboxes.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import type { Actor, EnvelopeMailbox } from '#domain/webhooks/event-types.ts';

/** The sender of a request, according to its credential. */
export type Principal =
  | ApiKeyPrincipal
  | UserPrincipal
  | MailboxPrincipal
  | OperatorPrincipal
  | ApprovalPrincipal
  | PublicPrincipal;

export interface ApiKeyPrincipal {
  readonly kind: 'api_key';
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ApiScope[];
  /** The groups of mailboxes it is limited to. */
  readonly reach: Reach;
  /** Whether the mailbox, or what belongs to one, that the path names is within reach. */
  readonly reachesPath: boolean;
}

/** A person with a session. Member id and role are those in the active organization; null while there is none. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly sessionId: string;
  readonly sessionExpiresAt: Date;
  /** When the person proved a second factor for this session; null: not at all. */
  readonly secondFactorAt: Date | null;
  /** The active organization requires one, and there is none: it may read, and change nothing. */
  readonly missesSecondFactor: boolean;
  readonly memberId: string | null;
  readonly role: MemberRole | null;
}

/** The mailboxes that a principal sees in lists of the organization. */
export const reachOf = (principal: Principal): Reach => (principal.kind === 'api_key' ? principal.reach : null);

/** A mailbox token: `id` is the mailbox it opens. */
export interface MailboxPrincipal {
  readonly kind: 'mailbox';
  readonly id: string;
  /** Of the token of the mailbox, or of the grant of a program. */
  readonly credentialId: string;
  readonly access: TokenAccess;
  readonly name: string;
  readonly address: string;
  /** The grant of a program with access by OAuth; absent for a token of the mailbox. */
  readonly grant?: { readonly resource: string };
}

/** The mailbox of a request about it, if its own token names it: without asking PostgreSQL once more. */
export function ownMailbox(principal: Principal, mailboxId: string): EnvelopeMailbox | undefined {
  if (principal.kind !== 'mailbox' || principal.id !== mailboxId) return undefined;
  const { id, name, address } = principal;
  const at = address.lastIndexOf('@');
  return { id, name, address, localPart: address.slice(0, at), domain: address.slice(at + 1) };
}

/** The link of a notice: `id` is the link; it opens one request for one member. */
export interface ApprovalPrincipal {
  readonly kind: 'approval_link';
  readonly id: string;
  readonly consentId: string;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly expiresAt: Date;
  /** The organization requires a second factor, which a link is not: it may read, and decide nothing. */
  readonly missesSecondFactor: boolean;
  /** What its member has decided; never where a route does not let a used link in (`againAfterDecision`). */
  readonly decided: 'approved' | 'denied' | 'returned' | null;
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
    case 'approval_link':
      return { type: 'user', id: principal.userId, name: principal.name, email: principal.email, address: null };
    case 'operator':
      return { ...NOBODY, type: 'system', name: 'operator' };
    case 'public':
      return { ...NOBODY, type: 'system' };
  }
}

/** On whose behalf a request acts, and from where. */
export const callerOf = (principal: Principal, ipAddress: string, requestId: string): Caller => ({
  actor: actorOf(principal),
  ipAddress,
  requestId,
  ...(principal.kind === 'approval_link' ? { via: 'approval_link' } : {}),
});

/**
 * Names the sender in tables that are keyed by it, e.g. `api_key:key_…`. A token that may only read or only send is apart
 * from other tokens of its mailbox: an answer that was stored for them is not repeated to it.
 */
export function principalKey(principal: Principal): string {
  if (!('id' in principal)) return principal.kind;
  const limited = principal.kind === 'mailbox' && principal.access !== 'full' ? `:${principal.credentialId}` : '';
  return `${principal.kind}:${principal.id}${limited}`;
}
