import { brakesOf, getOrganization } from '#core/accounts/organization.ts';
import type { UseToday } from '#core/mailboxes/mailbox-view.ts';
import { dayOf } from '#core/mailboxes/sending-budgets.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { OrganizationBrakes } from '#domain/sending/sending-brakes.ts';

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
