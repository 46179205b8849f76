import { Migration20261121000001_organizations_and_webhooks } from './Migration20261121000001_organizations_and_webhooks.ts';

/** All migrations, oldest first. */
export const migrations = [Migration20261121000001_organizations_and_webhooks];
