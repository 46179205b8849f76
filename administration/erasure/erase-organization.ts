/**
 * The erasure of an organization: it is suspended, so that nobody reaches it, then its mailboxes are erased one after
 * another, then people who are members nowhere else, then the rest.
 */
import { suspendOrganization } from '#core/accounts/suspension.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { eraseDeliveries } from './erase-deliveries.ts';
import { eraseMailbox, type MailboxToErase } from './erase-mailbox.ts';
import { eraseAnswers, eraseRefusals } from './erase-records.ts';
import { type Counts, countRows, eraseNow, eraseRows, inPortions, isReal, plus, type Run } from './portions.ts';

type Step = readonly [table: string, where: string];

const OF = 'organization_id = $1';

const STEPS: readonly Step[] = [
  ['received_request', `receiver_id in (select id from webhook_receiver where ${OF})`],
  ['webhook_receiver', OF],
  ['recoveries', OF],
  ['webhook_endpoints', OF],
  ['webhook_signing_key', OF],
  ['mailbox_move_part', `move_id in (select id from mailbox_move where ${OF})`],
  ['mailbox_move', OF],
  ['legal_hold', OF],
  ['sender_list', OF],
  ['suppression', OF],
  ['known_recipient', OF],
  ['attachment_digest', OF],
  ['approval_links', OF],
  ['approval_notice_items', `notice_id in (select notice_id from approval_notices where ${OF})`],
  ['approval_notices', OF],
  ['member_notices', OF],
  ['member_notice_settings', OF],
  ['member_desk_notice', OF],
  ['role_mail', OF],
  ['domain_report', OF],
  ['mail_refusal', OF],
  ['decision_rule', OF],
  ['invitations', OF],
  ['api_keys', OF],
  ['oauth_tokens', `grant_id in (select id from oauth_grants where ${OF})`],
  ['oauth_grants', OF],
  ['dkim_rotation', `domain_id in (select id from domains where ${OF})`],
  ['domains', OF],
  ['delivery_allowances', OF],
  ['sending_use', 'scope_id = $1'],
  ['rate_limits', `position($1 in key) > 0`],
  ['audit_entries', OF],
  ['members', OF],
  ['organizations', 'id = $1'],
  // Written by triggers of the other tables.
  ['organization_change', OF],
];

/** What belongs to an account. @param ids SQL for `in (…)` @param emails likewise */
const ACCOUNT_PARTS: readonly (readonly [table: string, where: (ids: string, emails: string) => string])[] = [
  ['sessions', (ids) => `user_id in (${ids})`],
  ['sign_in_sources', (ids) => `user_id in (${ids})`],
  ['password_resets', (ids) => `user_id in (${ids})`],
  ['device_sign_ins', (ids) => `user_id in (${ids})`],
  ['sign_in_challenges', (ids) => `user_id in (${ids})`],
  ['passkey_ceremonies', (ids) => `user_id in (${ids})`],
  ['oidc_sign_ins', (ids) => `user_id in (${ids})`],
  ['oidc_identities', (ids) => `user_id in (${ids})`],
  ['passkeys', (ids) => `user_id in (${ids})`],
  ['totp_factor', (ids) => `user_id in (${ids})`],
  ['recovery_code', (ids) => `user_id in (${ids})`],
  ['oauth_requests', (ids) => `user_id in (${ids})`],
  ['idempotency_keys', (ids) => `split_part(principal, ':', 2) in (${ids})`],
  ['member_notices', (_, emails) => `organization_id is null and lower(recipient) in (${emails})`],
  ['mail_refusal', (_, emails) => `keys && array(${emails})`],
  ['rate_limits', (_, emails) => `exists (select from (${emails}) as e (email) where position(e.email in key) > 0)`],
  // Their rows in other organizations, if somebody added them meanwhile, go with them.
  ['members', (ids) => `user_id in (${ids})`],
  ['users', (ids) => `id in (${ids})`],
];

const ACCOUNTS_AT_ONCE = 100;
const ONLY_HERE = `
  id in (select user_id from members where organization_id = $1)
  and not exists (select from members m where m.user_id = users.id and m.organization_id <> $1)`;

async function eraseAccounts(run: Run, organizationId: string): Promise<void> {
  if (!isReal(run)) {
    const of = (column: string): string => `select ${column} from users where ${ONLY_HERE}`;
    // Members are counted with the organization.
    for (const [table, where] of ACCOUNT_PARTS)
      if (table !== 'members') await countRows(run, table, where(of('id'), of('email')), [organizationId]);
    return;
  }
  await inPortions(run, 'users', async (sql: Sql) => {
    const users = await sql.query<{ id: string; email: string }>(
      `select id, email from users where ${ONLY_HERE} order by id limit $2 for update`,
      [organizationId, ACCOUNTS_AT_ONCE],
    );
    const values = [users.map(({ id }) => id), users.map(({ email }) => email)];
    let counts: Counts = {};
    if (users.length === 0) return { counts, more: false };
    const [ids, emails] = ['select unnest($1::text[])', 'select unnest($2::text[])'];
    for (const [table, where] of ACCOUNT_PARTS)
      counts = plus(
        counts,
        // Both values in every statement: their types are given in any case.
        await eraseNow(
          sql,
          table,
          `$1::text[] is not null and $2::text[] is not null and ${where(ids, emails)}`,
          values,
        ),
      );
    return { counts, more: true };
  });
}

/** @param caller for the suspension */
export async function eraseOrganization(
  services: Services,
  run: Run,
  organizationId: string,
  caller: Caller,
): Promise<void> {
  const { db } = services;
  const values = [organizationId];
  const [exists] = await db.query(`select 1 from organizations where id = $1`, values);
  if (isReal(run) && exists !== undefined)
    await suspendOrganization(services, organizationId, caller, { receive: 'reject', reason: 'It is being erased' });
  const keys = await db.query<{ id: string }>(`select id from api_keys where organization_id = $1`, values);
  const mailboxes = await db.query<MailboxToErase>(
    `select id, organization_id as "organizationId", address from mailboxes where organization_id = $1 order by id`,
    values,
  );
  const ids = [organizationId, ...mailboxes.map(({ id }) => id), ...keys.map(({ id }) => id)];
  await eraseAnswers(run, ids);
  for (const mailbox of mailboxes) {
    await eraseRefusals(run, [mailbox.address, mailbox.id]);
    await eraseMailbox(services, run, mailbox, false);
  }
  await eraseDeliveries(run, { events: 'e.organization_id = $1', deliveries: 'd.organization_id = $1', values });
  await eraseAccounts(run, organizationId);
  for (const [table, where] of STEPS) await eraseRows(run, table, where, values);
}
