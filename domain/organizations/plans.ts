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
