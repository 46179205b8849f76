import { Migration } from '@mikro-orm/migrations';

/** Contents outside the rows: objects of an S3-compatible storage, each with its own key. */
export class Migration20261128001610_blob_objects extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table blob_object (
        name text collate "C" primary key,
        -- Of the content that is being written; the blob says which object it has.
        sha256 bytea not null,
        key_sealed text not null,
        -- writing: nothing refers to it yet. used: a blob does. free: none does any more; the object is to be removed.
        state text not null check (state in ('writing', 'used', 'free')),
        since timestamptz not null default now()
      );
      -- One process at a time moves a content.
      create unique index blob_object_writing on blob_object (sha256) where state = 'writing';
      create index blob_object_since on blob_object (since) where state <> 'used';

      -- Not checked against the rows there are, which have their bytes and no object.
      alter table blob add column object text collate "C";
      alter table blob alter column bytes drop not null;
      alter table blob add constraint blob_object_fkey foreign key (object) references blob_object not valid;
      alter table blob add constraint blob_place check ((bytes is null) <> (object is null)) not valid;
      create unique index blob_object_name on blob (object) where object is not null;
      create index blob_in_rows on blob (created_at) where object is null;

      -- The deletion of a blob frees its object, in the same transaction.
      create function free_blob_objects() returns trigger language plpgsql as $$
        begin
          update blob_object set state = 'free', since = now()
           where name in (select object from gone where object is not null);
          return null;
        end $$;
      create trigger blob_deleted after delete on blob referencing old table as gone
        for each statement execute function free_blob_objects();
    `);
  }
}
