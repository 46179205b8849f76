/**
 * How much a mailbox and its organization may send: by plan, and in one thread against loops; and whether a person stopped
 * the organization.
 */
import { brakesOf, getOrganization } from '#core/accounts/organization.ts';
import type { UseToday } from '#core/mailboxes/mailbox-queries.ts';
import { dayOf } from '#core/mailboxes/sending-budgets.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { countUsesInTurn } from '#db/queries/platform/count-use.ts';
import { firstIdAt } from '#domain/ids.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { SENDS_PER_THREAD_HOUR_MAX } from '#domain/sending/outbound.ts';
import type { OrganizationBrakes } from '#domain/sending/sending-brakes.ts';
import type { Sender, SendingServices } from '#sending/outbox/outbound-message.ts';

const MS_PER_SECOND = 1_000;
const HOUR_MS = 3_600 * MS_PER_SECOND;
const DAY_MS = 24 * HOUR_MS;

interface OverLimit {
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

export interface OrganizationSending extends OrganizationBrakes {
  /** Of all mailboxes together. */
  readonly today: UseToday;
  readonly mailboxesStopped: number;
  /** Messages that wait for the end of a stop. */
  readonly messagesStopped: number;
}

/** @throws {CatalogueError} not_found */
export async function organizationSending(services: Services, organizationId: string): Promise<OrganizationSending> {
  const brakes = brakesOf(await getOrganization(services, organizationId));
  return { ...brakes, ...(await countToday(services.db, organizationId, new Date(services.now()))) };
}

type Counts = Pick<OrganizationSending, 'mailboxesStopped' | 'messagesStopped'>;

async function countToday(sql: Sql, organizationId: string, now: Date): Promise<Counts & { today: UseToday }> {
  const day = dayOf(now);
  const [row] = await sql.query<UseToday & Counts>(COUNT, [organizationId, day, firstIdAt('message', Date.parse(day))]);
  if (row === undefined) throw new Error('counts without a row');
  const { mailboxesStopped, messagesStopped, ...today } = row;
  return { today, mailboxesStopped, messagesStopped };
}

const COUNT = `
  select coalesce(max(u.messages), 0)::int as sent, coalesce(max(u.new_recipients), 0)::int as "newRecipients",
         (select count(*)::int from mailboxes x join message m on m.mailbox_id = x.id and m.id >= $3
           where x.organization_id = $1 and m.origin in ('smtp', 'local')) as received,
         (select count(*)::int from consent where organization_id = $1 and status = 'pending') as held,
         (select count(*)::int from mailboxes
           where organization_id = $1 and deleted_at is null and sending_mode = 'stopped') as "mailboxesStopped",
         (select count(*)::int from outbound_message
           where organization_id = $1 and stopped_at is not null and state in ('scheduled', 'sending')) as "messagesStopped"
    from sending_use u where u.scope_id = $1 and u.day = $2::date`;
