/** Every table has a retention period; older rows are deleted in bounded portions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { retentionStep } from '#activities/delete-history.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database, Sql } from '#db/database.ts';
import { RETENTION_STEPS, type RetentionStep, TABLE_RETENTION } from '#domain/retention.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
const organizationId = newId('organization');
const [userId, mailboxId] = [newId('user'), newId('mailbox')];
before(async () => {
  services = await openTestServices({ AUDIT_RETENTION_DAYS: '100', SENT_MAIL_RETENTION_DAYS: '100' });
  const { db } = services;
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'One', 'one', 'unlimited')`, [
    organizationId,
  ]);
  await db.query(`insert into users (id, email, name, password_hash) values ($1, 'a@b.example', 'A', 'x')`, [userId]);
  await insertMailbox(mailboxId, null);
});
after(() => services?.close());

const insertMailbox = (id: string, deletedDaysAgo: number | null) =>
  services.db.query(
    `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash,
       deleted_at)
     values ($1, $2, $1, 'agents.test', $1 || '@agents.test', 'Agent', case when $3::int is null then 'active' else 'deleting' end,
       'synced', $4, now() - make_interval(days => $3))`,
    [id, organizationId, deletedDaysAgo, Buffer.from(id)],
  );

test('every table of the schema has its retention, and no other table', async () => {
  const tables = await services.db.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1`,
  );
  const names = TABLE_RETENTION.map(({ table }) => table);
  assert.deepEqual(
    names.toSorted((a, b) => a.localeCompare(b, 'en')),
    tables.map(({ name }) => name).sort((a, b) => a.localeCompare(b, 'en')),
  );
  assert.equal(new Set(names).size, names.length);
});

/** How a table is filled with a row of a given age in days; the age at which rows go. */
interface Case {
  readonly step: RetentionStep;
  readonly table: string;
  readonly keptDays: number;
  insert(daysAgo: number): Promise<unknown>;
}

const query = (text: string, values: readonly unknown[]) => services.db.query(text, values);
const bytes = (id: string) => Buffer.from(id);
const insertGrant = (id: string, daysAgo: number) =>
  query(
    `insert into oauth_grants (id, organization_id, mailbox_id, user_id, client_id, client_name, redirect_uri,
            code_challenge, resource, access, created_at, expires_at)
     values ($1, $2, $3, $4, 'x', 'x', 'x', 'x', 'x', 'read', now(),
             now() + interval '1 minute' - make_interval(days => $5))`,
    [id, organizationId, mailboxId, userId, daysAgo],
  );
const CASES: readonly Case[] = [
  {
    step: 'auditEntries',
    table: 'mail_refusal',
    keptDays: 30,
    insert: (daysAgo) =>
      query(
        `insert into mail_refusal (id, at, organization_id, keys, line)
         values ($1, now() - make_interval(days => $2), $3, '{x}', '{}')`,
        [newId('mailRefusal'), daysAgo, organizationId],
      ),
  },
  {
    step: 'idempotencyKeys',
    table: 'idempotency_keys',
    keptDays: 1,
    insert: (daysAgo) =>
      query(
        `insert into idempotency_keys (principal, key, request_hash, created_at)
         values ('p', $1, 'x', now() - make_interval(days => $2))`,
        [newId('event'), daysAgo],
      ),
  },
  {
    step: 'rateLimits',
    table: 'rate_limits',
    keptDays: 0,
    insert: (daysAgo) =>
      query(`insert into rate_limits (key, used, resets_at_ms) values ($1, 1, $2)`, [
        newId('event'),
        services.now() + 60_000 - daysAgo * 86_400_000,
      ]),
  },
  {
    step: 'sessions',
    table: 'sessions',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('session');
      return query(
        `insert into sessions (id, user_id, token_hash, expires_at)
         values ($1, $2, $3, now() + interval '1 minute' - make_interval(days => $4))`,
        [id, userId, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'password_resets',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('passwordReset');
      return query(
        `insert into password_resets (id, user_id, token_hash, created_at, expires_at)
         values ($1, $2, $3, now(), now() + interval '1 minute' - make_interval(days => $4))`,
        [id, userId, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'device_sign_ins',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('deviceSignIn');
      return query(
        `insert into device_sign_ins (id, device_code_hash, user_code_hash, name, created_at, expires_at)
         values ($1, $2, $2, 'x', now(), now() + interval '1 minute' - make_interval(days => $3))`,
        [id, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'sign_in_challenges',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('signInChallenge');
      return query(
        `insert into sign_in_challenges (id, user_id, token_hash, created_at, expires_at)
         values ($1, $2, $3, now(), now() + interval '1 minute' - make_interval(days => $4))`,
        [id, userId, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'passkey_ceremonies',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('passkeyCeremony');
      return query(
        `insert into passkey_ceremonies (id, challenge_hash, purpose, created_at, expires_at)
         values ($1, $2, 'sign_in', now(), now() + interval '1 minute' - make_interval(days => $3))`,
        [id, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'oidc_sign_ins',
    keptDays: 0,
    insert(daysAgo) {
      const id = newId('oidcSignIn');
      return query(
        `insert into oidc_sign_ins (id, state_hash, browser_hash, created_at, expires_at)
         values ($1, $2, $2, now(), now() + interval '1 minute' - make_interval(days => $3))`,
        [id, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'sessions',
    table: 'oauth_requests',
    keptDays: 0,
    insert: (daysAgo) =>
      query(
        `insert into oauth_requests (id, user_id, client_id, client_name, redirect_uri, code_challenge, resource, accesses,
                created_at, expires_at)
         values ($1, $2, 'x', 'x', 'x', 'x', 'x', '{read}', now(), now() + interval '1 minute' - make_interval(days => $3))`,
        [newId('oauthRequest'), userId, daysAgo],
      ),
  },
  {
    step: 'sessions',
    table: 'oauth_grants',
    keptDays: 0,
    insert: (daysAgo) => insertGrant(newId('oauthGrant'), daysAgo),
  },
  {
    step: 'sessions',
    table: 'oauth_clients',
    keptDays: 0,
    insert: (daysAgo) =>
      query(
        `insert into oauth_clients (id, name, redirect_uris, created_at, expires_at)
         values ($1, 'x', '{}', now(), now() + interval '1 minute' - make_interval(days => $2))`,
        [newId('oauthClient'), daysAgo],
      ),
  },
  {
    step: 'sessions',
    table: 'oauth_tokens',
    keptDays: 0,
    async insert(daysAgo) {
      const id = newId('oauthGrant');
      // The grant stays, so that what goes is not deleted with it.
      await insertGrant(id, 0);
      return query(
        `insert into oauth_tokens (hash, grant_id, kind, expires_at)
         values ($1, $2, 'access', now() + interval '1 minute' - make_interval(days => $3))`,
        [bytes(id), id, daysAgo],
      );
    },
  },
  {
    step: 'invitations',
    table: 'invitations',
    keptDays: 90,
    insert(daysAgo) {
      const id = newId('invitation');
      return query(
        `insert into invitations (id, organization_id, email, role, token_hash, expires_at)
         values ($1, $2, 'i@b.example', 'member', $3, now() - make_interval(days => $4))`,
        [id, organizationId, bytes(id), daysAgo],
      );
    },
  },
  {
    step: 'auditEntries',
    table: 'audit_entries',
    keptDays: 100,
    insert: (daysAgo) =>
      query(
        `insert into audit_entries (id, organization_id, actor, action, created_at)
         values ($1, $2, '{}', 'x', now() - make_interval(days => $3))`,
        [newId('audit'), organizationId, daysAgo],
      ),
  },
  {
    step: 'notices',
    table: 'member_notices',
    keptDays: 90,
    insert: (daysAgo) =>
      query(
        `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, state, created_at,
           due_at, finished_at)
         values ($1, $2, 'webhook_failing', 'x', 'a@b.example', 's', 'b', 'sent', now(), now(),
           now() - make_interval(days => $3))`,
        [newId('notice'), organizationId, daysAgo],
      ),
  },
  { step: 'sentMail', table: 'outbound_message', keptDays: 100, insert: insertSentMail },
  {
    step: 'knownRecipients',
    table: 'known_recipient',
    keptDays: 730,
    insert: (daysAgo) =>
      query(
        `insert into known_recipient (organization_id, kind, value, source, last_used_at)
         values ($1, 'address', $2, 'approved', now() - make_interval(days => $3))`,
        [organizationId, newId('event'), daysAgo],
      ),
  },
  {
    step: 'knownRecipients',
    table: 'attachment_digest',
    keptDays: 730,
    insert: (daysAgo) =>
      query(
        `insert into attachment_digest (organization_id, digest, message_id, stored_at)
         values ($1, $2, $3, now() - make_interval(days => $4))`,
        [organizationId, bytes(newId('event')), newId('message'), daysAgo],
      ),
  },
  {
    step: 'roleMail',
    table: 'held_arrival',
    keptDays: 30,
    insert: (daysAgo) =>
      query(
        `insert into held_arrival (id, organization_id, mailbox_id, reasons, author, proven, from_addresses, envelope_from,
           delivered_to, source, subject, preview, signals, labels, to_junk, size, bytes, received_at)
         values ($1, $2, $3, '{}', '', false, '[]', '', '', '', '', '', '[]', '{}', false, 1, 'x',
           now() - make_interval(days => $4))`,
        [newId('message'), organizationId, mailboxId, daysAgo],
      ),
  },
  {
    step: 'roleMail',
    table: 'released_thread',
    keptDays: 400,
    insert: (daysAgo) =>
      query(
        `insert into released_thread (mailbox_id, thread_id, author, proven, released_at)
         values ($1, $2, '', false, now() - make_interval(days => $3))`,
        [mailboxId, newId('thread'), daysAgo],
      ),
  },
  {
    step: 'suppressions',
    table: 'suppression',
    keptDays: 730,
    insert: (daysAgo) =>
      query(
        `insert into suppression (id, organization_id, address, reason, created_at)
         values ($1, $2, $1, 'hard_bounce', now() - make_interval(days => $3))`,
        [newId('event'), organizationId, daysAgo],
      ),
  },
  {
    step: 'endpoints',
    table: 'webhook_endpoints',
    keptDays: 31,
    insert: (daysAgo) =>
      query(
        `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix, deleted_at)
         values ($1, $2, 'https://x', '{email_sent}', 'x', 'x', now() - make_interval(days => $3))`,
        [newId('webhookEndpoint'), organizationId, daysAgo],
      ),
  },
  {
    step: 'redeliveryKeys',
    table: 'delivery_seen',
    keptDays: 5,
    insert(daysAgo) {
      const id = newId('message');
      return query(
        `insert into delivery_seen (mailbox_id, delivery_hash, message_id, seen_at)
         values ($1, $2, $3, now() - make_interval(days => $4))`,
        [mailboxId, bytes(id), id, daysAgo],
      );
    },
  },
  {
    step: 'readingAttempts',
    table: 'reading_attempt',
    keptDays: 7,
    insert: (daysAgo) =>
      query(`insert into reading_attempt (content, started_at) values ($1, now() - make_interval(days => $2))`, [
        bytes(newId('message')),
        daysAgo,
      ]),
  },
  {
    step: 'threadReferences',
    table: 'thread_ref',
    keptDays: 400,
    insert(daysAgo) {
      const id = newId('thread');
      return query(
        `insert into thread_ref (mailbox_id, ref_hash, thread_id, seen_at)
         values ($1, $2, $3, now() - make_interval(days => $4))`,
        [mailboxId, bytes(id), id, daysAgo],
      );
    },
  },
  {
    step: 'mailboxes',
    table: 'mailboxes',
    keptDays: 90,
    async insert(daysAgo) {
      const id = newId('mailbox');
      await insertMailbox(id, daysAgo);
      await query(`insert into mailbox_counter (mailbox_id, quota_bytes, uid_validity_next) values ($1, 1, 1)`, [id]);
      await query(`insert into mail_keyword (mailbox_id, key, keyword) values ($1, 'k', 'k')`, [id]);
    },
  },
];

async function insertSentMail(daysAgo: number): Promise<void> {
  const [id, consentId] = [newId('message'), newId('consent')];
  await query(
    `insert into outbound_message (id, organization_id, mailbox_id, size, content_hash, message_id_header, from_address,
       to_addresses, cc_addresses, subject, preview, labels, via, actor, state, submitted_at, due_at, finished_at)
     values ($1, $2, $3, 1, 'x', '<x@x>', 'a@b.example', '[]', '[]', 's', 'p', '{}', 'api', '{}', 'done', now(), now(),
       now() - make_interval(days => $4))`,
    [id, organizationId, mailboxId, daysAgo],
  );
  await query(
    `insert into outbound_recipient (message_id, number, address, local, status) values ($1, 1, 'x', false, 'sent')`,
    [id],
  );
  await query(
    `insert into consent (id, organization_id, mailbox_id, message_id, recipients, content_hash, subject, preview,
       expires_at, created_at) values ($1, $2, $3, $4, '{}', 'x', 's', 'p', now(), now())`,
    [consentId, organizationId, mailboxId, id],
  );
}

/** A step as the workflow runs it, with portions of two rows; every statement that removes rows is counted. */
async function runStep(step: RetentionStep, table: string): Promise<{ done: number; portions: number[] }> {
  const portions: number[] = [];
  const heartbeats: number[] = [];
  const counted =
    (sql: Sql): Sql['query'] =>
    async (text, values) => {
      const rows = await sql.query<Record<string, never>>(text, values);
      if (new RegExp(`^\\s*delete from ${table}\\b`).test(text)) portions.push(rows.length);
      return rows as never;
    };
  const db: Database = {
    ...services.db,
    query: counted(services.db),
    transaction: (work) => services.db.transaction((sql) => work({ ...sql, query: counted(sql) })),
  };
  const context = { heartbeat: (done: number) => void heartbeats.push(done), isEnding: () => false };
  const { done, more } = await retentionStep({ ...services, db }, { step }, context, 2);
  assert.equal(more, false);
  assert.ok(heartbeats.length > 0, 'a heartbeat before each portion');
  return { done, portions };
}

for (const { step, table, keptDays, insert } of CASES)
  test(`${table}: rows past ${keptDays} days go in portions, others stay`, async () => {
    const count = async () => (await services.db.query(`select from ${table}`)).length;
    const before = await count();
    for (let n = 0; n < 5; n++) await insert(keptDays + 1);
    for (let n = 0; n < 3; n++) await insert(keptDays - 1);
    const { done, portions } = await runStep(step, table);
    assert.equal(done, 5);
    assert.equal(await count(), before + 3);
    // Those of the mail store have a size of their own.
    if (!['redeliveryKeys', 'threadReferences', 'mailboxes'].includes(step)) assert.deepEqual(portions, [2, 2, 1]);
    assert.equal((await runStep(step, table)).done, 0);
  });

test('rows are deleted with their parent', async () => {
  for (const table of ['outbound_recipient', 'consent'])
    assert.equal((await services.db.query(`select from ${table}`)).length, 3, table);
  for (const table of ['mailbox_counter', 'mail_keyword'])
    assert.equal((await services.db.query(`select from ${table}`)).length, 3, table);
});

test('complaints, mail that is not over, and mailboxes that have something left stay', async () => {
  const { db } = services;
  await db.query(
    `insert into suppression (id, organization_id, address, reason, created_at)
     values ('complained', $1, 'c@b.example', 'complaint', now() - interval '5 years')`,
    [organizationId],
  );
  const withMail = newId('mailbox');
  await insertMailbox(withMail, 500);
  await db.query(
    `insert into folder (mailbox_id, name, name_key, uid_validity, deleted_at) values ($1, 'INBOX', 'INBOX', 1, now())`,
    [withMail],
  );
  for (const step of RETENTION_STEPS) await runStep(step, '');
  assert.equal((await db.query(`select from suppression where id = 'complained'`)).length, 1);
  assert.equal((await db.query(`select from mailboxes where id = $1`, [withMail])).length, 1);
});

test('a step that is asked to end reports that there is more, and continues where it was', async () => {
  const audit = CASES.find(({ step }) => step === 'auditEntries');
  for (let n = 0; n < 5; n++) await audit?.insert(101);
  const context = { heartbeat() {}, isEnding: () => true };
  const first = await retentionStep(services, { step: 'auditEntries' }, context, 2);
  assert.deepEqual([first.done, first.more], [2, true]);
  const second = await retentionStep(services, { step: 'auditEntries' }, { ...context, isEnding: () => false }, 2);
  assert.deepEqual([second.done, second.more], [3, false]);
});
