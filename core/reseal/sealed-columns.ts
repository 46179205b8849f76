/**
 * Every column with sealed secrets (`core/platform/secrets/sealed-secrets.ts`). Add each new one here, or its rows cannot be opened
 * after the next rotation of keys; a test compares the list with the schema.
 */

import { noticeCredentialPlace } from '#core/accounts/invitations.ts';
import { chatUrlPlace } from '#core/accounts/notice-settings.ts';
import { dkimKeyPlace } from '#core/mailboxes/domains.ts';
import { instanceDkimPlace } from '#core/mailboxes/instance-dkim.ts';
import { idempotencyAnswerPlace } from '#core/platform/secrets/sealed-secrets.ts';
import { authHeaderPlace, signingKeyPlace, webhookSecretPlace } from '#core/webhooks/signing/webhook-secrets.ts';

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly key: readonly string[];
  /** Place of the value in the row with this key. */
  place(...key: readonly string[]): string;
}

const column = (
  table: string,
  name: string,
  key: readonly string[],
  place: (...key: readonly string[]) => string,
): SealedColumn => ({ table, column: name, key, place });

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  column('webhook_endpoints', 'secret_sealed', ['id'], (id = '') => webhookSecretPlace(id)),
  column('webhook_endpoints', 'previous_secret_sealed', ['id'], (id = '') => webhookSecretPlace(id)),
  column('webhook_endpoints', 'auth_header_value_sealed', ['id'], (id = '') => authHeaderPlace(id)),
  column('webhook_signing_key', 'private_key_sealed', ['id'], (id = '') => signingKeyPlace(id)),
  column('domains', 'dkim_private_key_sealed', ['id'], (id = '') => dkimKeyPlace(id)),
  column('dkim_key', 'private_key_sealed', ['domain'], (domain = '') => instanceDkimPlace(domain)),
  column('idempotency_keys', 'body_sealed', ['principal', 'key'], (principal = '', key = '') =>
    idempotencyAnswerPlace(principal, key),
  ),
  column('member_notices', 'credential_sealed', ['id'], (id = '') => noticeCredentialPlace(id)),
  column('member_notice_settings', 'chat_url_sealed', ['member_id'], (id = '') => chatUrlPlace(id)),
];

/** SQL expression: id of the key a sealed value was sealed with. */
export const keyIdOf = (name: string): string => `split_part(${name}, '.', 2)`;
