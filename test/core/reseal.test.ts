import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type SealedSecrets, type SecretsKey, sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { keysInUse, reseal, SEALED_COLUMNS, type SealedColumn } from '#core/reseal/reseal.ts';
import { openTestServices } from '#test/support/services.ts';

const newKey = (id: string): SecretsKey => ({ id, key: randomBytes(32) });
const [OLD, NEW, LOST] = [newKey('old'), newKey('new'), newKey('lost')];
const both = sealedSecrets([NEW, OLD]);
const ROWS = 7;
let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

test('every column with sealed values is resealed', async () => {
  const rows = await services.db.query<{ place: string }>(
    `select t.relname || '.' || c.attname as place from pg_attribute c join pg_class t on t.oid = c.attrelid
      where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
        and c.attname like '%sealed%' and not c.attisdropped order by 1`,
  );
  const listed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  assert.deepEqual(
    listed.toSorted((a, b) => a.localeCompare(b, 'en')),
    rows.map(({ place }) => place).sort((a, b) => a.localeCompare(b, 'en')),
  );
});

/** Rows in every table with sealed columns. @returns the plaintext of each value, by column and key */
async function fill(secrets: SealedSecrets): Promise<Map<string, string>> {
  const { db } = services;
  await db.query('truncate organizations, dkim_key, acme_account, acme_certificate, idempotency_keys cascade');
  const organizationId = newId('organization');
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'One', 'one', 'unlimited')`, [
    organizationId,
  ]);
  const plain = new Map<string, string>();
  const sealed = (table: string, name: string, ...key: string[]): string => {
    const column = SEALED_COLUMNS.find((each) => each.table === table && each.column === name);
    assert.ok(column);
    const text = `${table}.${name} ${key.join(' ')} ${randomBytes(4).toString('hex')}`;
    plain.set(`${table}.${name} ${key.join(' ')}`, text);
    return secrets.seal(text, column.place(...key));
  };
  for (let n = 0; n < ROWS; n++) {
    const [endpoint, domain, name, key] = [newId('webhookEndpoint'), newId('domain'), `d${n}.example`, `key ${n}`];
    const [user, member] = [newId('user'), newId('member')];
    await db.query(`insert into users (id, email, name, password_hash) values ($1, $1, 'x', 'x')`, [user]);
    await db.query(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'member')`, [
      member,
      organizationId,
      user,
    ]);
    await db.query(
      `insert into member_notice_settings (member_id, organization_id, approvals, chat_form, chat_host, chat_url_sealed,
         updated_at) values ($1, $2, 'none', 'slack', 'x', $3, now())`,
      [member, organizationId, sealed('member_notice_settings', 'chat_url_sealed', member)],
    );
    await db.query(
      `insert into webhook_endpoints (id, organization_id, url, event_types, secret_prefix, auth_header_name,
         secret_sealed, previous_secret_sealed, auth_header_value_sealed)
       values ($1, $2, 'https://x', '{email_sent}', 'x', 'X-Auth', $3, $4, $5)`,
      [
        endpoint,
        organizationId,
        sealed('webhook_endpoints', 'secret_sealed', endpoint),
        n % 2 === 0 ? sealed('webhook_endpoints', 'previous_secret_sealed', endpoint) : null,
        sealed('webhook_endpoints', 'auth_header_value_sealed', endpoint),
      ],
    );
    const signingKey = `key-${n}`;
    await db.query(
      `insert into webhook_signing_key (id, organization_id, public_key, private_key_sealed, expires_at)
       values ($1, $2, 'p', $3, now() + interval '1 day')`,
      [signingKey, organizationId, sealed('webhook_signing_key', 'private_key_sealed', signingKey)],
    );
    await db.query(
      `insert into domains (id, organization_id, name, verification_token, dkim_selector, dkim_public_key,
         dkim_private_key_sealed) values ($1, $2, $3, 't', 's', 'p', $4)`,
      [domain, organizationId, name, sealed('domains', 'dkim_private_key_sealed', domain)],
    );
    await db.query(
      `insert into dkim_key (domain, selector, public_key, private_key_sealed) values ($1, 's', 'p', $2)`,
      [name, sealed('dkim_key', 'private_key_sealed', name)],
    );
    await db.query(`insert into acme_account (directory, key_sealed) values ($1, $2)`, [
      name,
      sealed('acme_account', 'key_sealed', name),
    ]);
    await db.query(`insert into acme_certificate (name, chain, key_sealed) values ($1, 'c', $2)`, [
      name,
      sealed('acme_certificate', 'key_sealed', name),
    ]);
    const nextKey = `next-${n}`;
    await db.query(
      `insert into dkim_rotation (id, domain, domain_id, selector, public_key, private_key_sealed, state, created_at)
       values ($1, $2, $3, 'next', 'p', $4, 'next', now())`,
      [nextKey, name, domain, sealed('dkim_rotation', 'private_key_sealed', nextKey)],
    );
    await db.query(
      `insert into idempotency_keys (principal, key, request_hash, body_sealed) values ('who', $1, 'x', $2)`,
      [key, sealed('idempotency_keys', 'body_sealed', 'who', key)],
    );
  }
  return plain;
}

/** What every value opens to, by column and key. */
async function openAll(secrets: SealedSecrets): Promise<Map<string, string>> {
  const opened = new Map<string, string>();
  for (const column of SEALED_COLUMNS)
    for (const { key, sealed } of await valuesOf(column))
      opened.set(`${column.table}.${column.column} ${key.join(' ')}`, secrets.open(sealed, column.place(...key)));
  return opened;
}
const valuesOf = ({ table, column, key }: SealedColumn) =>
  services.db.query<{ key: string[]; sealed: string }>(
    `select array[${key.join(', ')}]::text[] as key, ${column} as sealed from ${table} where ${column} is not null`,
  );
const sorted = (map: Map<string, string>) => [...map].sort(([a], [b]) => a.localeCompare(b));

test('everything opens with the newest key alone afterwards, and the old one is not needed any more', async () => {
  const plain = await fill(sealedSecrets([OLD]));
  const result = await reseal({ db: services.db, secrets: both }, { portionRows: 2 });
  assert.deepEqual([result.resealed, result.failures, [...result.left]], [plain.size, [], []]);
  assert.deepEqual(sorted(await openAll(sealedSecrets([NEW]))), sorted(plain));
  assert.equal((await reseal({ db: services.db, secrets: both })).resealed, 0);
});

test('it may be interrupted at any portion and go on', async () => {
  const plain = await fill(sealedSecrets([OLD]));
  let resealed = 0;
  for (let runs = 0; (await keysInUse(services.db)).has('old'); runs++) {
    const stopping = new AbortController();
    const result = await reseal(
      { db: services.db, secrets: both },
      { portionRows: 2, signal: stopping.signal, onProgress: () => stopping.abort() },
    );
    assert.ok(result.resealed > 0 && runs < plain.size);
    resealed += result.resealed;
    assert.deepEqual(sorted(await openAll(both)), sorted(plain));
  }
  assert.equal(resealed, plain.size);
});

test('a value that the running service changes meanwhile keeps the change', async () => {
  const plain = await fill(sealedSecrets([OLD]));
  const [column] = SEALED_COLUMNS;
  assert.ok(column);
  const [victim] = await valuesOf(column);
  const [id = ''] = victim?.key ?? [];
  const { query } = services.db;
  let changed = false;
  const db = {
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      const rows = await query<Row>(text, values);
      if (!changed) {
        // Between the reading of the portion and its writing: the secret is rotated by a process with the old key.
        changed = true;
        await query(`update webhook_endpoints set secret_sealed = $2 where id = $1`, [
          id,
          sealedSecrets([OLD]).seal('rotated', column.place(id)),
        ]);
      }
      return rows;
    },
  };
  const first = await reseal({ db, secrets: both });
  assert.deepEqual([first.resealed, [...first.left]], [plain.size - 1, [['old', 1]]]);
  assert.equal((await reseal({ db: services.db, secrets: both })).left.size, 0);
  assert.equal((await openAll(sealedSecrets([NEW]))).get(`webhook_endpoints.secret_sealed ${id}`), 'rotated');
});

test('a value that cannot be opened is reported, not changed, and blocks nothing', async () => {
  const plain = await fill(sealedSecrets([OLD]));
  const place = SEALED_COLUMNS[0]?.place('whe_lost') ?? '';
  const [organization] = await services.db.query<{ id: string }>('select id from organizations');
  await services.db.query(
    `insert into webhook_endpoints (id, organization_id, url, event_types, secret_prefix, secret_sealed)
     values ('whe_lost', $1, 'https://x', '{email_sent}', 'x', $2)`,
    [organization?.id, sealedSecrets([LOST]).seal('lost', place)],
  );
  const { resealed, failures, left } = await reseal({ db: services.db, secrets: both }, { portionRows: 2 });
  assert.deepEqual([resealed, [...left]], [plain.size, [['lost', 1]]]);
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', /webhook_endpoints\.secret_sealed whe_lost: .*"lost", which is not in SECRETS_KEYS/);
});

test('npm run reseal says how many values were sealed again and which key can be removed', async () => {
  const plain = await fill(sealedSecrets([OLD]));
  const child = spawn(process.execPath, ['dev/start.mjs', 'operations/admin.ts', 'reseal'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      NODE_TEST_CONTEXT: '',
      DATABASE_URL: services.settings.DATABASE_URL ?? '',
      SECRETS_KEYS: [NEW, OLD].map(({ id, key }) => `${id}:${key.toString('base64')}`).join(','),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, output);
  assert.match(output, new RegExp(`${plain.size} values were sealed again with key "new"`));
  assert.match(output, /Key "old" is not used any more.*can be removed from SECRETS_KEYS/);
  assert.deepEqual(sorted(await openAll(sealedSecrets([NEW]))), sorted(plain));
});
