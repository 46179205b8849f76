import { Migration } from '@mikro-orm/migrations';

/** DKIM keys beside the one that signs, which stays where it was: those before their use, and those after it. */
export class Migration20261128001000_dkim_rotation extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      create table dkim_rotation (
        id text collate "C" primary key,
        domain text not null,
        -- Of an organization; null: the instance's own domain.
        domain_id text collate "C" references domains on delete cascade,
        selector text not null,
        public_key text not null,
        -- A key that signs no more has none.
        private_key_sealed text,
        state text not null check (state in ('next', 'retiring', 'retired')),
        created_at timestamptz not null,
        switched_at timestamptz,
        -- What name servers said last, in words.
        checked_at timestamptz,
        dns_answer text,
        -- Since when no name server says another thing.
        undisputed_since timestamptz,
        check ((state = 'next') = (private_key_sealed is not null)),
        check ((state = 'next') = (switched_at is null))
      );
      create unique index dkim_rotation_selector on dkim_rotation (coalesce(domain_id, domain), selector);
      create unique index dkim_rotation_next on dkim_rotation (coalesce(domain_id, domain)) where state = 'next';
      create index dkim_rotation_domain_id on dkim_rotation (domain_id) where domain_id is not null;

      -- When the key that signs was made; null: with the domain.
      alter table domains add column dkim_key_created_at timestamptz;
    `);
  }
}
