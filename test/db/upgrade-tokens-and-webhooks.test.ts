/** Rows of the version before named tokens, groups and key pairs: their credentials go on, and old writers are understood. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authenticate } from '#api/authenticate.ts';
import { hashCredential, newCredential } from '#core/platform/credentials.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/services.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { migrations } from '#db/migrations/index.ts';
import { createTestDatabase, openTestServices, type TestDatabase } from '#test/support/services.ts';

let database: TestDatabase;
let services: Services;
const earlier = migrations.filter(({ name }) => name <= 'Migration20261122000116_files');
const later = migrations.slice(earlier.length);

const organizationId = newId('organization');
const [kept, deleted] = [newId('mailbox'), newId('mailbox')];
const [endpoint, event, delivery] = [newId('webhookEndpoint'), newId('event'), newId('delivery')];
const token = newCredential('mailboxToken');
const key = newCredential('apiKey');

const sql = (text: string, values: readonly unknown[] = []) => services.db.query(text, values);
const hashOf = (credential: string): Buffer => hashCredential(credential, services.pepper);
const insertMailbox = (id: string, name: string, hash: Buffer, deletedAt: Date | null) =>
  sql(
    `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash,
            deleted_at) values ($1, $2, $3, 'x.example', $3 || '@x.example', $3, 'active', 'synced', $4, $5)`,
    [id, organizationId, name, hash, deletedAt],
  );
const opens = (credential: string): Promise<string | undefined> =>
  authenticate(services, 'mailbox_token', { authorization: `Bearer ${credential}` }).then(
    ({ principal }) => (principal.kind === 'mailbox' ? `${principal.access} ${principal.id}` : principal.kind),
    () => undefined,
  );

before(async () => {
  database = await createTestDatabase();
  migrations.splice(earlier.length);
  const db = await openDatabase({ url: database.url, poolMax: 2 });
  try {
    await db.query(`drop schema public cascade`);
    await db.query(`create schema public`);
    await migrate(db);
  } finally {
    migrations.push(...later);
    await db.close();
  }
  services = await openTestServices({ DATABASE_URL: database.url });
  await sql(`insert into organizations (id, name, slug, plan) values ($1, 'Old', 'old', 'business')`, [organizationId]);
  await insertMailbox(kept, 'kept', hashOf(token), null);
  await insertMailbox(deleted, 'deleted', hashOf(newCredential('mailboxToken')), new Date(0));
  await sql(
    `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, 'k', $3, '', $4)`,
    [newId('apiKey'), organizationId, hashOf(key), ['mailbox:read']],
  );
  await sql(
    `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix)
     values ($1, $2, 'https://x.example/', '{email_received}', '', '')`,
    [endpoint, organizationId],
  );
  await sql(
    `insert into events (id, organization_id, type, payload, occurred_at) values ($1, $2, 'email_received', '{}', now())`,
    [event, organizationId],
  );
  await sql(
    `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type)
     values ($1, $2, $3, $4, 'email_received')`,
    [delivery, event, endpoint, organizationId],
  );
  await migrate(services.db);
});
after(async () => {
  await services?.close();
  await database?.drop();
});

test('the token of a mailbox opens it as before, and a deleted mailbox gets none', async () => {
  assert.equal(await opens(token), `full ${kept}`);
  const rows = await sql(`select mailbox_id, organization_id, is_first, expires_at from mailbox_token`);
  assert.deepEqual(rows, [{ mailbox_id: kept, organization_id: organizationId, is_first: true, expires_at: null }]);
});

test('a process of the version before may go on: what it makes and rotates opens, what it replaced does not', async () => {
  const [rotated, first] = [newCredential('mailboxToken'), newCredential('mailboxToken')];
  await sql(`update mailboxes set token_hash = $2 where id = $1`, [kept, hashOf(rotated)]);
  assert.deepEqual([await opens(token), await opens(rotated)], [undefined, `full ${kept}`]);
  const made = newId('mailbox');
  await insertMailbox(made, 'made', hashOf(first), null);
  assert.equal(await opens(first), `full ${made}`);
  // As it deletes a mailbox: it knows no further tokens.
  await sql(`update mailboxes set deleted_at = now(), token_hash = $2 where id = $1`, [
    made,
    hashOf(newCredential('mailboxToken')),
  ]);
  assert.equal(await opens(first), undefined);
});

test('keys reach every mailbox as before, and endpoints ask for nothing more', async () => {
  const { principal } = await authenticate(services, { scope: 'mailbox:read' }, { 'x-organization-key': key });
  assert.ok(principal.kind === 'api_key');
  assert.deepEqual([principal.reach, principal.reachesPath], [null, true]);
  assert.deepEqual(await sql(`select public_key_signature as keys, include_extracts as codes from webhook_endpoints`), [
    { keys: false, codes: false },
  ]);
  assert.deepEqual(await sql(`select with_extracts from deliveries`), [{ with_extracts: false }]);
});
