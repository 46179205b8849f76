import { Migration } from '@mikro-orm/migrations';

/** Which network a registration of a program came from, while nobody has used it. */
export class Migration20261126000160_networks_of_registrations extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table oauth_clients add column network text;
    `);
  }
}
