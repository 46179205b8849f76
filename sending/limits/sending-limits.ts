/** How much a mailbox and its organization may send: by plan, and in one thread against loops. */
import { countUsesInTurn } from '#db/queries/platform/count-use.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { SENDS_PER_THREAD_HOUR_MAX } from '#domain/sending/outbound.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

const MS_PER_SECOND = 1_000;
const HOUR_MS = 3_600 * MS_PER_SECOND;
const DAY_MS = 24 * HOUR_MS;

export interface OverLimit {
  readonly rule: string;
  readonly message: string;
  readonly retryAfterSeconds: number;
  readonly first: boolean;
}

/** Counts one more message, and says which limit that is beyond, if any. A thread of null is a new one. */
export async function overLimit(
  services: SendingServices,
  sender: Sender,
  threadId: string | null,
): Promise<OverLimit | undefined> {
  const plan = PLANS[sender.plan];
  const limits = [
    {
      rule: 'sendsPerMailboxHour',
      key: `sends:${sender.mailbox.id}`,
      max: plan.sendsPerMailboxHour,
      windowMs: HOUR_MS,
    },
    {
      rule: 'sendsPerOrganizationDay',
      key: `sends:${sender.organization.id}`,
      max: plan.sendsPerOrganizationDay,
      windowMs: DAY_MS,
    },
    ...(threadId === null
      ? []
      : [{ rule: 'sendsPerThreadHour', key: `sends:${threadId}`, max: SENDS_PER_THREAD_HOUR_MAX, windowMs: HOUR_MS }]),
  ];
  const applied = limits.flatMap((limit) => (limit.max === null ? [] : [{ ...limit, max: limit.max }]));
  const counts = await countUsesInTurn(services.db, applied, services.now());
  const beyond = applied.flatMap(({ rule, max }, index) => {
    const count = counts[index];
    return count !== undefined && count.used > max ? [{ rule, max, ...count }] : [];
  })[0];
  if (beyond === undefined) return undefined;
  const { rule, max, used, resetsInMs } = beyond;
  const retryAfterSeconds = Math.max(1, Math.ceil(resetsInMs / MS_PER_SECOND));
  const message = `More than ${max} messages (${rule}). Try again in ${retryAfterSeconds} s.`;
  return { rule, message, retryAfterSeconds, first: used === max + 1 };
}
