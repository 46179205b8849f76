import { Migration } from '@mikro-orm/migrations';

/** Whether a person who connected a program had proven a second factor. */
export class Migration20261128003010_grants_with_second_factor extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      -- When the person of the session had proven it; null: not at all, or connected by an earlier version.
      alter table oauth_grants add column second_factor_at timestamptz;
    `);
  }
}
