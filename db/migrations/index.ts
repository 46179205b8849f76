import { Migration20261122000101_platform } from './Migration20261122000101_platform.ts';
import { Migration20261122000102_organizations_and_access } from './Migration20261122000102_organizations_and_access.ts';
import { Migration20261122000103_mailboxes_and_domains } from './Migration20261122000103_mailboxes_and_domains.ts';
import { Migration20261122000104_webhooks } from './Migration20261122000104_webhooks.ts';
import { Migration20261122000105_events_and_deliveries } from './Migration20261122000105_events_and_deliveries.ts';
import { Migration20261122000106_mail_store } from './Migration20261122000106_mail_store.ts';
import { Migration20261122000107_sending } from './Migration20261122000107_sending.ts';
import { Migration20261122000108_consents } from './Migration20261122000108_consents.ts';
import { Migration20261122000109_notices } from './Migration20261122000109_notices.ts';
import { Migration20261122000110_organization_changes } from './Migration20261122000110_organization_changes.ts';
import { Migration20261122000111_fast_lane } from './Migration20261122000111_fast_lane.ts';
import { Migration20261122000112_listed_headers } from './Migration20261122000112_listed_headers.ts';
import { Migration20261122000115_device_sign_ins } from './Migration20261122000115_device_sign_ins.ts';
import { Migration20261122000116_files } from './Migration20261122000116_files.ts';
import { Migration20261122000117_mailbox_tokens } from './Migration20261122000117_mailbox_tokens.ts';
import { Migration20261122000118_mailbox_groups } from './Migration20261122000118_mailbox_groups.ts';
import { Migration20261122000119_webhook_signing_keys } from './Migration20261122000119_webhook_signing_keys.ts';
import { Migration20261122000120_event_extracts } from './Migration20261122000120_event_extracts.ts';
import { Migration20261122000121_unbroken_signs } from './Migration20261122000121_unbroken_signs.ts';
import { Migration20261122000122_oauth } from './Migration20261122000122_oauth.ts';
import { Migration20261125000115_installation_settings } from './Migration20261125000115_installation_settings.ts';
import { Migration20261125000120_first_contacts } from './Migration20261125000120_first_contacts.ts';
import { Migration20261125000124_inside_recipients } from './Migration20261125000124_inside_recipients.ts';
import { Migration20261125000140_client_ids } from './Migration20261125000140_client_ids.ts';
import { Migration20261125000141_repeated_refreshes } from './Migration20261125000141_repeated_refreshes.ts';
import { Migration20261125000142_oauth_clients } from './Migration20261125000142_oauth_clients.ts';
import { Migration20261125000150_indexes_of_references } from './Migration20261125000150_indexes_of_references.ts';
import { Migration20261126000160_networks_of_registrations } from './Migration20261126000160_networks_of_registrations.ts';
import { Migration20261126000300_mail_refusals } from './Migration20261126000300_mail_refusals.ts';
import { Migration20261126000400_suspended_organizations } from './Migration20261126000400_suspended_organizations.ts';
import { Migration20261128000600_carried_mail } from './Migration20261128000600_carried_mail.ts';
import { Migration20261128000700_message_signals } from './Migration20261128000700_message_signals.ts';
import { Migration20261128000710_screening } from './Migration20261128000710_screening.ts';
import { Migration20261128000800_erasures } from './Migration20261128000800_erasures.ts';
import { Migration20261128000810_mail_on_hold } from './Migration20261128000810_mail_on_hold.ts';
import { Migration20261128000900_imported_messages } from './Migration20261128000900_imported_messages.ts';
import { Migration20261128001000_dkim_rotation } from './Migration20261128001000_dkim_rotation.ts';
import { Migration20261128001010_certificates } from './Migration20261128001010_certificates.ts';
import { Migration20261128001100_returned_consents } from './Migration20261128001100_returned_consents.ts';
import { Migration20261128001110_waiting_consents } from './Migration20261128001110_waiting_consents.ts';
import { Migration20261128001120_standing_approvals } from './Migration20261128001120_standing_approvals.ts';
import { Migration20261128001130_undo } from './Migration20261128001130_undo.ts';
import { Migration20261128001300_second_factors } from './Migration20261128001300_second_factors.ts';
import { Migration20261128001400_operator_uses } from './Migration20261128001400_operator_uses.ts';
import { Migration20261128001500_trace_contexts } from './Migration20261128001500_trace_contexts.ts';
import { Migration20261128001600_mail_retention } from './Migration20261128001600_mail_retention.ts';
import { Migration20261128001610_blob_objects } from './Migration20261128001610_blob_objects.ts';
import { Migration20261128001700_consent_risk } from './Migration20261128001700_consent_risk.ts';
import { Migration20261128001710_decision_rules } from './Migration20261128001710_decision_rules.ts';
import { Migration20261128001800_sending_after_reading } from './Migration20261128001800_sending_after_reading.ts';
import { Migration20261128001810_carried_documents } from './Migration20261128001810_carried_documents.ts';
import { Migration20261128001820_canaries } from './Migration20261128001820_canaries.ts';
import { Migration20261128002100_domain_reports } from './Migration20261128002100_domain_reports.ts';
import { Migration20261128003000_passkeys } from './Migration20261128003000_passkeys.ts';
import { Migration20261128003010_grants_with_second_factor } from './Migration20261128003010_grants_with_second_factor.ts';
import { Migration20261128003020_openid_sign_in } from './Migration20261128003020_openid_sign_in.ts';
import { Migration20261128003100_mailbox_moves } from './Migration20261128003100_mailbox_moves.ts';
import { Migration20261128003300_aliases } from './Migration20261128003300_aliases.ts';
import { Migration20261128003400_desk_notices } from './Migration20261128003400_desk_notices.ts';
import { Migration20261128003500_lane_offers } from './Migration20261128003500_lane_offers.ts';
import { Migration20261128003600_carried_facts } from './Migration20261128003600_carried_facts.ts';

/** All migrations, oldest first. */
export const migrations = [
  Migration20261122000101_platform,
  Migration20261122000102_organizations_and_access,
  Migration20261122000103_mailboxes_and_domains,
  Migration20261122000104_webhooks,
  Migration20261122000105_events_and_deliveries,
  Migration20261122000106_mail_store,
  Migration20261122000107_sending,
  Migration20261122000108_consents,
  Migration20261122000109_notices,
  Migration20261122000110_organization_changes,
  Migration20261122000111_fast_lane,
  Migration20261122000112_listed_headers,
  Migration20261122000115_device_sign_ins,
  Migration20261122000116_files,
  Migration20261122000117_mailbox_tokens,
  Migration20261122000118_mailbox_groups,
  Migration20261122000119_webhook_signing_keys,
  Migration20261122000120_event_extracts,
  Migration20261122000121_unbroken_signs,
  Migration20261122000122_oauth,
  Migration20261125000140_client_ids,
  Migration20261125000115_installation_settings,
  Migration20261125000141_repeated_refreshes,
  Migration20261125000142_oauth_clients,
  Migration20261125000150_indexes_of_references,
  Migration20261125000120_first_contacts,
  Migration20261125000124_inside_recipients,
  Migration20261126000160_networks_of_registrations,
  Migration20261126000300_mail_refusals,
  Migration20261126000400_suspended_organizations,
  Migration20261128001000_dkim_rotation,
  Migration20261128000700_message_signals,
  Migration20261128001010_certificates,
  Migration20261128000710_screening,
  Migration20261128000600_carried_mail,
  Migration20261128001100_returned_consents,
  Migration20261128001110_waiting_consents,
  Migration20261128001120_standing_approvals,
  Migration20261128000900_imported_messages,
  Migration20261128000800_erasures,
  Migration20261128000810_mail_on_hold,
  Migration20261128001130_undo,
  Migration20261128001800_sending_after_reading,
  Migration20261128002100_domain_reports,
  Migration20261128001700_consent_risk,
  Migration20261128001500_trace_contexts,
  Migration20261128001810_carried_documents,
  Migration20261128001300_second_factors,
  Migration20261128001600_mail_retention,
  Migration20261128001400_operator_uses,
  Migration20261128001710_decision_rules,
  Migration20261128001820_canaries,
  Migration20261128001610_blob_objects,
  Migration20261128003000_passkeys,
  Migration20261128003010_grants_with_second_factor,
  Migration20261128003100_mailbox_moves,
  Migration20261128003500_lane_offers,
  Migration20261128003600_carried_facts,
  Migration20261128003300_aliases,
  Migration20261128003400_desk_notices,
  Migration20261128003020_openid_sign_in,
];
