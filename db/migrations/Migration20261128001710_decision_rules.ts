import { Migration } from '@mikro-orm/migrations';

/** Rules who decides about held messages, deputies, and the first of two approvals. */
export class Migration20261128001710_decision_rules extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table decision_rule (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations on delete cascade,
        -- Null: all mailboxes.
        mailbox_group text,
        -- Addresses and domains, in lower case; none: all.
        recipients text[] not null,
        -- Those responsible. Who is no member any more counts no longer.
        member_ids text[] not null,
        persons smallint not null check (persons in (1, 2)),
        hours jsonb,
        escalates_after_hours smallint not null check (escalates_after_hours > 0),
        created_by jsonb not null,
        created_at timestamptz not null,
        check (cardinality(member_ids) > 0 or persons = 2)
      );
      create index decision_rule_organization on decision_rule (organization_id, id);

      alter table members
        add column deputy_id text collate "C",
        add column deputy_from timestamptz,
        add column deputy_until timestamptz,
        add constraint members_deputy_check check ((deputy_id is null) = (deputy_from is null)
          and (deputy_id is null) = (deputy_until is null));

      -- The first of two approvals, and whether all members were asked after nobody responsible decided.
      alter table consent
        add column first_approval jsonb,
        add column escalated_at timestamptz;
    `);
  }
}
