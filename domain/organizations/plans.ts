import { CatalogueError } from '#domain/errors.ts';

/** Plans and their limits (specification of the API, "Plans"; webhooks on paid plans only, interface §1.7). */
export const PLAN_NAMES = ['free', 'team', 'business', 'unlimited'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

const GIB_BYTES = 1024 ** 3;

export interface Plan {
  readonly maxMailboxes: number | null;
  /** 0: the plan has no webhooks. Null: no limit. */
  readonly maxWebhookEndpoints: number | null;
  /** Own mail domains, verified or not. Null: no limit. */
  readonly maxDomains: number | null;
  readonly quotaBytesPerMailbox: number;
  /** Aliases of one mailbox that are not dropped. */
  readonly maxAliasesPerMailbox: number;
  /** API requests per minute and organization, the basis of the RateLimit headers. Null: not limited. */
  readonly apiRequestsPerMinute: number | null;
  /** Messages a mailbox may submit in an hour, and all of an organization in a day. Null: not limited. */
  readonly sendsPerMailboxHour: number | null;
  readonly sendsPerOrganizationDay: number | null;
  /** Fair use: deliveries per second and organization before they are delayed. Never dropped. Null: not limited. */
  readonly deliveriesPerSecond: number | null;
}

export const PLANS: Readonly<Record<PlanName, Plan>> = {
  free: {
    maxMailboxes: 3,
    maxWebhookEndpoints: 0,
    maxDomains: 1,
    quotaBytesPerMailbox: GIB_BYTES,
    maxAliasesPerMailbox: 20,
    apiRequestsPerMinute: 300,
    sendsPerMailboxHour: 50,
    sendsPerOrganizationDay: 200,
    deliveriesPerSecond: null,
  },
  team: {
    maxMailboxes: 50,
    maxWebhookEndpoints: 10,
    maxDomains: 10,
    quotaBytesPerMailbox: 5 * GIB_BYTES,
    maxAliasesPerMailbox: 100,
    apiRequestsPerMinute: 1_200,
    sendsPerMailboxHour: 200,
    sendsPerOrganizationDay: 5_000,
    deliveriesPerSecond: 50,
  },
  business: {
    maxMailboxes: 1_000,
    maxWebhookEndpoints: 100,
    maxDomains: 100,
    quotaBytesPerMailbox: 10 * GIB_BYTES,
    maxAliasesPerMailbox: 500,
    apiRequestsPerMinute: 6_000,
    sendsPerMailboxHour: 1_000,
    sendsPerOrganizationDay: 100_000,
    deliveriesPerSecond: 500,
  },
  unlimited: {
    maxMailboxes: null,
    maxWebhookEndpoints: null,
    maxDomains: null,
    quotaBytesPerMailbox: 50 * GIB_BYTES,
    maxAliasesPerMailbox: 1_000,
    apiRequestsPerMinute: null,
    sendsPerMailboxHour: null,
    sendsPerOrganizationDay: null,
    deliveriesPerSecond: null,
  },
};

/** Endpoints with mailbox scope that one mailbox may have, on any plan. */
export const MAX_ENDPOINTS_PER_MAILBOX = 20;

export const planHasWebhooks = (plan: PlanName): boolean => PLANS[plan].maxWebhookEndpoints !== 0;
export const PLANS_WITH_WEBHOOKS: readonly PlanName[] = PLAN_NAMES.filter(planHasWebhooks);

/** @throws {CatalogueError} plan_required */
export function requireWebhookPlan(plan: PlanName): void {
  if (!planHasWebhooks(plan))
    throw new CatalogueError('plan_required', `The plan ${plan} does not include webhooks.`, {
      fix: 'Ask the operator of this service to move the organization to a paid plan.',
    });
}

/** Numbers and forms of organizations. */
export const ORGANIZATION_NAME_MAX = 200;
export const SLUG_MAX = 63;
/** Lower-case letters, digits and single hyphens inside. */
export const SLUG_PATTERN = '^[a-z0-9]+(?:-[a-z0-9]+)*$';

/** An undecided request for consent is denied after this time, unless the organization chose another. */
export const CONSENT_EXPIRES_DAYS_DEFAULT = 7;
export const CONSENT_EXPIRES_DAYS_MAX = 30;

/** The slug of a name: `Müller & Söhne` becomes `muller-sohne`. Empty if no character of the name can be used. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replaceAll(/^-+|-+$/g, '');

/** Maximum API keys and open invitations of an organization, on any plan. */
export const API_KEYS_MAX = 200;
export const OPEN_INVITATIONS_MAX = 200;
/** Invitations an organization may make in a day, those that replace another one included: each sends a mail. */
export const INVITATIONS_PER_DAY_MAX = 200;
