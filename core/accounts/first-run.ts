import type { Sql } from '#db/database.ts';

/** The first steps of an organization, each true once it was done. */
export interface FirstRun {
  /** The oldest mailbox, which the steps are about. */
  readonly mailbox: { readonly id: string; readonly address: string } | null;
  /** The token of a mailbox was used. */
  readonly connected: boolean;
  /** A mailbox received mail. */
  readonly received: boolean;
  /** A webhook delivery was acknowledged. */
  readonly notified: boolean;
}

const FIND = /* sql */ `
  select (select jsonb_build_object('id', x.id, 'address', x.address) from mailboxes x
           where x.organization_id = $1 and x.deleted_at is null order by x.id limit 1) as mailbox,
         exists (select from mailbox_login l join mailboxes x on x.id = l.mailbox_id
                  where x.organization_id = $1) as connected,
         exists (select from mailboxes x join message m on m.mailbox_id = x.id
                  where x.organization_id = $1 and m.origin in ('smtp', 'local', 'system')) as received,
         exists (select from webhook_endpoints e
                  where e.organization_id = $1 and e.last_success_at is not null) as notified`;

export async function firstRun(sql: Sql, organizationId: string): Promise<FirstRun> {
  const [row] = await sql.query<FirstRun>(FIND, [organizationId]);
  return row ?? { mailbox: null, connected: false, received: false, notified: false };
}
