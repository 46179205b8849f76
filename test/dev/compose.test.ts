import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import type { DistributionServer } from '#dev/launcher/postgres-binaries.ts';
import { DYNAMIC_CONFIG } from '#dev/launcher/temporal-server.ts';
import { distributionServer } from '#test/support/distribution-server.ts';
import { needs } from '#test/support/programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('Temporal has the same dynamic configuration in docker-compose.yml as under npm start', () => {
  const pairs = read('deploy/temporal-dynamic-config.yaml').matchAll(/^(\S+):\n {2}- value: (\S+)$/gm);
  assert.deepEqual(Object.fromEntries([...pairs].map(([, key, value]) => [key, value])), DYNAMIC_CONFIG);
});

test('docker-compose.yml sets only settings that exist', () => {
  const block = /^x-environment:.*\n((?: {2}.*\n)+)/m.exec(read('docker-compose.yml'))?.[1] ?? '';
  const names = [...block.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name ?? '');
  assert.ok(names.length > 15);
  assert.deepEqual(
    names.filter((name) => !(name in SETTINGS)),
    [],
  );
});

test('docker-compose.yml mounts the folder of TLS_FOLDER where its description says that the certificate is', () => {
  const compose = read('docker-compose.yml');
  const [, place = ''] = /- \$\{TLS_FOLDER:-tls\}:(\S+):ro/.exec(compose) ?? [];
  const described = [...compose.matchAll(/^# {3}TLS_(?:CERT|KEY)=(\S+)$/gm)].map(([, file]) => file ?? '');
  assert.equal(described.length, 2);
  for (const file of described) {
    assert.equal(path.posix.dirname(file), place);
    // The hook copies the files of these names.
    assert.match(compose, new RegExp(`^#.*\\$RENEWED_LINEAGE/${path.posix.basename(file)}"`, 'm'));
  }
});

test('the containers of the service cannot write to their root, and have no capabilities', () => {
  const service = /^x-service: &service\n((?: .*\n)+)/m.exec(read('docker-compose.yml'))?.[1] ?? '';
  for (const line of ['read_only: true', 'cap_drop: [ALL]', 'no-new-privileges:true', '/tmp:noexec,'])
    assert.ok(service.includes(line), line);
});

/** By name: the lines of each service. */
const services = new Map(
  [
    ...(read('docker-compose.yml')
      .split(/^services:$/m)[1]
      ?.split(/^volumes:$/m)[0]
      ?.matchAll(/^ {2}([\w-]+):\n((?: {4}.*\n|\n)+)/gm) ?? []),
  ].map(([, name = '', text = '']) => [name, text]),
);

test('every container has limits, no capabilities but those it says, and gets no new privileges', () => {
  assert.ok(services.size >= 9, [...services.keys()].join(' '));
  const template = /^x-service: &service\n((?: .*\n)+)/m.exec(read('docker-compose.yml'))?.[1] ?? '';
  for (const [name, own] of services) {
    const text = own.includes('<<: *service') ? template + own : own;
    for (const part of [
      /^ +cap_drop: \[ALL\]$/m,
      /^ +security_opt: (?:\*|&)no-new-privileges$/m,
      /^ +pids_limit: \d+$/m,
      /^ +mem_limit: \S+$/m,
    ])
      assert.match(text, part, name);
    // These two say in the file why.
    if (name !== 'temporal' && name !== 'temporal-ui') assert.match(text, /^ +read_only: true$/m, name);
  }
});

test('PostgreSQL and Temporal can be left out by .env alone, with every step that belongs to them', () => {
  const scaledBy = (variable: string) =>
    [...services].filter(([, text]) => text.includes(`scale: \${${variable}:-1}`)).map(([name]) => name);
  assert.deepEqual(scaledBy('POSTGRES_CONTAINERS'), ['postgres', 'postgres-roles']);
  assert.deepEqual(scaledBy('TEMPORAL_CONTAINERS'), ['temporal-schema', 'temporal', 'temporal-ui']);
  const compose = read('docker-compose.yml');
  for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_TLS'])
    assert.match(compose, new RegExp(`^ {2}${name}: \\$\\{${name}:-`, 'm'));
  // A variable that has to be set would have to be set for a server that is not started, too.
  assert.doesNotMatch(compose, /\$\{POSTGRES_PASSWORD:\?/);
});

test('what is an option starts only if it is named, and has no secrets of the service', () => {
  const options = [...services].filter(([, text]) => text.includes('profiles: ['));
  assert.deepEqual(
    options.map(([name]) => name),
    ['proxy', 'prober'],
  );
  for (const [name, text] of options)
    assert.doesNotMatch(text, /environment: \*environment|SECRETS_KEYS|data:\/data/, name);
});

test('files that docker-compose.yml mounts are in the repository', () => {
  const mounted = [...read('docker-compose.yml').matchAll(/^\s+- \.\/([^:]+):/gm)].map(([, file = '']) => file);
  assert.deepEqual(
    mounted.map((file) => read(file).length > 100),
    [true, true, true],
  );
});

describe('the roles of docker-compose.yml', needs('PostgreSQL of the distribution', 'psql'), () => {
  let server: DistributionServer;
  before(async () => {
    server = await distributionServer();
  });
  after(() => server.stop());

  const script = path.join(root, 'deploy/compose/prepare-database.sh');
  const urlAs = (role: string, password: string, database: string): string => {
    const url = new URL(server.url(database));
    url.username = role;
    url.password = password;
    return url.href;
  };
  /** Runs the script as the superuser, with a password: the container needs none, over the socket. */
  const prepare = async () => {
    const { hostname, port, username, password } = new URL(server.url('postgres'));
    await promisify(execFile)('sh', [script], {
      env: {
        ...process.env,
        ...{ PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: decodeURIComponent(password) },
        ...{ MAILBOX_PASSWORD: `it's $1 "word"`, TEMPORAL_PASSWORD: 'another' },
      },
    });
  };
  const ask = async <Row extends object>(url: string, sql: string): Promise<Row[]> => {
    const db = await openDatabase({ url, poolMax: 1 });
    try {
      return await db.query<Row>(sql);
    } finally {
      await db.close();
    }
  };

  test('an installation of the superuser gets roles without rights, and the service works as its own', async () => {
    const asSuperuser = server.url('agent_mailbox');
    await server.run(['create database agent_mailbox', 'create database temporal']);
    const before = await openDatabase({ url: asSuperuser, poolMax: 2 });
    await migrate(before);
    await before.close();
    await server.run(
      [
        'create extension btree_gin',
        'create table executions (id serial primary key)',
        "create type state as enum ('a')",
      ],
      'temporal',
    );
    await prepare();
    const own = urlAs('agent_mailbox', `it's $1 "word"`, 'agent_mailbox');
    const [role] = await ask<{ superuser: boolean; owned: number; others: number }>(
      own,
      `select (select rolsuper or rolreplication or rolcreaterole or rolbypassrls from pg_roles where rolname = current_user) as superuser,
              count(*) filter (where tableowner = current_user)::int as owned,
              count(*) filter (where tableowner <> current_user)::int as others
       from pg_tables where schemaname = 'public'`,
    );
    assert.equal(role?.superuser, false);
    assert.equal(role.others, 0);
    assert.ok(role.owned > 20);
    // What a migration does to tables that are there.
    await ask(own, 'alter table organizations add column added text');
    await ask(urlAs('temporal', 'another', 'temporal'), "alter type state add value 'b'");
    await assert.rejects(ask(urlAs('temporal', 'another', 'agent_mailbox'), 'select 1'), /permission denied/i);
    await assert.rejects(ask(asSuperuser, 'select 1'), /password authentication failed/);
  });
});
