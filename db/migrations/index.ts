import { Migration20261121000001_organizations_and_webhooks } from './Migration20261121000001_organizations_and_webhooks.ts';
import { Migration20261121000002_mail_store } from './Migration20261121000002_mail_store.ts';
import { Migration20261121000003_rate_limits } from './Migration20261121000003_rate_limits.ts';
import { Migration20261121000004_mail_folders } from './Migration20261121000004_mail_folders.ts';
import { Migration20261121000005_outbound } from './Migration20261121000005_outbound.ts';
import { Migration20261121000006_mail_search } from './Migration20261121000006_mail_search.ts';
import { Migration20261121000007_suppressions } from './Migration20261121000007_suppressions.ts';
import { Migration20261121000008_complaints } from './Migration20261121000008_complaints.ts';
import { Migration20261121000009_sending_health } from './Migration20261121000009_sending_health.ts';
import { Migration20261121000010_delay_notices } from './Migration20261121000010_delay_notices.ts';
import { Migration20261121000011_drafts_and_scheduled_mail } from './Migration20261121000011_drafts_and_scheduled_mail.ts';
import { Migration20261121000012_delivery_notices } from './Migration20261121000012_delivery_notices.ts';
import { Migration20261121000013_recoveries } from './Migration20261121000013_recoveries.ts';
import { Migration20261121000014_member_notices } from './Migration20261121000014_member_notices.ts';
import { Migration20261121000015_content_of_sent_mail } from './Migration20261121000015_content_of_sent_mail.ts';
import { Migration20261121000016_troubled_endpoints } from './Migration20261121000016_troubled_endpoints.ts';
import { Migration20261121000017_read_again } from './Migration20261121000017_read_again.ts';
import { Migration20261121000018_ascii_domains_of_lists } from './Migration20261121000018_ascii_domains_of_lists.ts';
import { Migration20261121000019_waiting_mail } from './Migration20261121000019_waiting_mail.ts';

/** All migrations, oldest first. */
export const migrations = [
  Migration20261121000001_organizations_and_webhooks,
  Migration20261121000002_mail_store,
  Migration20261121000003_rate_limits,
  Migration20261121000004_mail_folders,
  Migration20261121000005_outbound,
  Migration20261121000006_mail_search,
  Migration20261121000007_suppressions,
  Migration20261121000008_complaints,
  Migration20261121000009_sending_health,
  Migration20261121000010_delay_notices,
  Migration20261121000011_drafts_and_scheduled_mail,
  Migration20261121000012_delivery_notices,
  Migration20261121000013_recoveries,
  Migration20261121000014_member_notices,
  Migration20261121000015_content_of_sent_mail,
  Migration20261121000016_troubled_endpoints,
  Migration20261121000017_read_again,
  Migration20261121000018_ascii_domains_of_lists,
  Migration20261121000019_waiting_mail,
];
