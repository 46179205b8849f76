import { Migration } from '@mikro-orm/migrations';

/** The answer to a used refresh token can be computed again, from the token and a salt. */
export class Migration20261125000141_repeated_refreshes extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table oauth_tokens
        -- Of the tokens that this one was exchanged for. Opens nothing without this one.
        add column salt bytea;
    `);
  }
}
