import { Migration } from '@mikro-orm/migrations';

/** The operator suspends an organization; its webhook deliveries end until it is resumed. */
export class Migration20261126000400_suspended_organizations extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table organizations
        add column suspended_at timestamptz,
        -- What other hosts are answered meanwhile.
        add column suspended_receive text check (suspended_receive in ('defer', 'reject')),
        add column suspended_reason text,
        add constraint organizations_suspended_whole check ((suspended_at is null) = (suspended_receive is null));

      -- Not checked against the rows there are: they were written under the narrower rule.
      alter table deliveries drop constraint deliveries_reason_check;
      alter table deliveries add constraint deliveries_reason_check
        check (reason in ('attempts_exhausted', 'endpoint_inactive', 'endpoint_deleted', 'endpoint_gone',
          'plan_downgraded', 'unsafe_destination', 'mailbox_deleted', 'organization_suspended')) not valid;
      alter table recoveries drop constraint recoveries_stop_reason_check;
      alter table recoveries add constraint recoveries_stop_reason_check
        check (stop_reason in ('endpoint_inactive', 'endpoint_deleted', 'plan_downgraded', 'mailbox_deleted',
          'organization_suspended')) not valid;
    `);
  }
}
