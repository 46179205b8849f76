import { Migration } from '@mikro-orm/migrations';

/**
 * Changes of an organization, for the streams of its pages: names and ids, kept for a day.
 *
 * Triggers write it, so that no path of a change can forget it, whatever process it is in; one row for each statement and
 * thing. Rows are read in the order of transactions (`xid`), below the oldest one that is still open: so none is missed
 * because it was committed late.
 */
export class Migration20261122000110_organization_changes extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table organization_change (
        organization_id text collate "C" not null,
        xid xid8 not null default pg_current_xact_id(),
        -- Name of an event of the stream, without its end.
        kind text not null,
        mailbox_id text collate "C",
        -- Id of what changed; of messages: where in the log of the mailbox it stands.
        subject_id text collate "C",
        created_at timestamptz not null default now()
      );
      create index organization_change_read on organization_change (organization_id, xid);
      create index organization_change_age on organization_change using brin (created_at) with (pages_per_range = 32);

      create function organization_change_messages() returns trigger language plpgsql as $$
      begin
        insert into organization_change (organization_id, kind, mailbox_id, subject_id)
        select m.organization_id, 'messages', m.id, min(n.seq)::text from new_rows n join mailboxes m on m.id = n.mailbox_id
         group by m.organization_id, m.id;
        return null;
      end $$;
      create trigger organization_change after insert on change_log referencing new table as new_rows
        for each statement execute function organization_change_messages();

      create function organization_change_deliveries() returns trigger language plpgsql as $$
      begin
        insert into organization_change (organization_id, kind, mailbox_id, subject_id)
        select distinct organization_id, 'deliveries', null::text, endpoint_id from new_rows;
        return null;
      end $$;
      create trigger organization_change_added after insert on deliveries referencing new table as new_rows
        for each statement execute function organization_change_deliveries();
      create trigger organization_change_changed after update on deliveries referencing new table as new_rows
        for each statement execute function organization_change_deliveries();

      -- The arguments: kind, and the columns of the mailbox and of the thing.
      create function organization_change_row() returns trigger language plpgsql as $$
      declare
        changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
      begin
        insert into organization_change (organization_id, kind, mailbox_id, subject_id)
        values (coalesce(changed ->> 'organization_id', changed ->> 'id'), tg_argv[0], changed ->> tg_argv[1], changed ->> tg_argv[2]);
        return null;
      end $$;
      create trigger organization_change after insert or delete
          or update of name, status, sync_status, token_hash, metadata, purpose, unauthenticated_mail, sending_mode,
             messages_per_day, new_recipients_per_day, deleted_at
        on mailboxes for each row execute function organization_change_row('mailbox', 'id', 'id');
      create trigger organization_change after insert or update of status or delete on consent
        for each row execute function organization_change_row('consent', 'mailbox_id', 'id');
      create trigger organization_change after insert or update of state, stopped_at or delete on outbound_message
        for each row execute function organization_change_row('outbox', 'mailbox_id', 'id');
      create trigger organization_change after insert or delete
          or update of url, event_types, description, active, disabled_reason, auth_header_name, secret_sealed, deleted_at
        on webhook_endpoints for each row execute function organization_change_row('endpoint', 'mailbox_id', 'id');
      create trigger organization_change after insert or update of status, records, checked_at or delete on domains
        for each row execute function organization_change_row('domain', '', 'id');
      create trigger organization_change after update of name, slug, plan, settings on organizations
        for each row execute function organization_change_row('organization', '', 'id');
      create trigger organization_change after insert or update of role or delete on members
        for each row execute function organization_change_row('member', '', 'id');
      create trigger organization_change after insert or update of name, scopes, expires_at or delete on api_keys
        for each row execute function organization_change_row('api_key', '', 'id');
    `);
  }
}
