/**
 * An installation of every released version continues with today's code: its rows are restored into an empty database
 * with the migrations of then, `npm start` of today migrates it, everything unfinished finishes, and nothing differs.
 *
 * Once with the state that Temporal had, and once with an empty Temporal, as after a lost one.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { MailboxClient, OrganizationClient } from '#client/index.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { migrations } from '#db/migrations/index.ts';
import { createPartitions } from '#db/partitions.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { projectVersion } from '#dev/release/project-version.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { createEmptyDatabase, testWorkflowBundle } from '#test/support/services.ts';
import { freePorts, type StartedService, startService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import { openImap, readFolders } from './read-folders.ts';
import {
  type InstallationRecord,
  migrationChecksums,
  type RecordedInstallation,
  type RecordManifest,
  readManifest,
  readRecord,
  recordedSettings,
  recordedVersions,
  statementsOf,
} from './record-format.ts';
import { restoreRows } from './recorded-rows.ts';

/** What was recorded seems to be so old. */
const AGE_MS = 3_600_000;
const startedAtMs = Date.now();
const PATIENCE_MS = 120_000;
const versions = recordedVersions();
/** Newest first. A version that is not released yet may be recorded again. */
const released = [
  ...readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8').matchAll(
    /^## \[(\d+\.\d+\.\d+)\] - \d{4}-/gm,
  ),
].map(([, version = '']) => version);
const folder = mkdtempSync(path.join(tmpdir(), 'recorded-installations-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Upgraded {
  readonly service: StartedService;
  readonly receiver: Receiver;
  readonly peer: Peer;
  close(): Promise<void>;
}

/** By how much the times of a restored installation are later: whole seconds, as IMAP shows them. */
const laterMs = ({ recordedAt }: RecordManifest): number =>
  Math.floor((startedAtMs - AGE_MS - Date.parse(recordedAt)) / 1_000) * 1_000;

/** The schema of the recorded version, with its rows. */
async function restore(db: Database, { manifest, installation }: InstallationRecord, receiverHost: string) {
  await db.orm.migrator.up({ migrations: manifest.migrations.map(({ name }) => name) });
  await createPartitions(db, Date.parse(manifest.recordedAt));
  const text = JSON.stringify(installation.rows).replaceAll(installation.receiver, receiverHost);
  const rows = JSON.parse(text) as RecordedInstallation['rows'];
  await db.transaction((sql) => restoreRows(sql, rows, laterMs(manifest)));
}

async function upgrade(record: InstallationRecord, dataDir: string, withTemporal: boolean): Promise<Upgraded> {
  mkdirSync(path.join(dataDir, 'temporal'), { recursive: true });
  writeFileSync(path.join(dataDir, 'secrets.json'), JSON.stringify(record.installation.secrets), { mode: 0o600 });
  if (withTemporal) writeFileSync(path.join(dataDir, 'temporal', 'temporal.db'), record.temporal);
  const tls = developmentCertificates(path.join(dataDir, 'tls'), ['localhost', 'agents.localhost']);
  const [receiver, peer, database] = [await startReceiver(tls), await startPeer(), await createEmptyDatabase()];
  const db = await openDatabase({ url: database.url, poolMax: 2 });
  await restore(db, record, `localhost:${receiver.port}`).finally(() => db.close());
  const service = await startService({
    ...(await freePorts()),
    ...recordedSettings(peer.url),
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
  });
  return {
    service,
    receiver,
    peer,
    async close() {
      assert.equal(await service.end('SIGTERM'), 0, service.output());
      await receiver.close();
      await peer.close();
      await database.drop();
    },
  };
}

async function credentialsAreValid(facts: ServiceFacts, { owner, apiKeys, mailboxes }: RecordedInstallation) {
  const { apiUrl: url } = facts;
  const signIn = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: owner.email, password: owner.password }),
  });
  assert.equal(signIn.ok, true, 'the password');
  const session = await new OrganizationClient({ url, session: owner.session }).sessions.current();
  assert.equal(session.user.email, owner.email);
  for (const apiKey of apiKeys) assert.ok((await new OrganizationClient({ url, apiKey }).organization.get()).id);
  for (const { address, tokens } of mailboxes)
    for (const { access, token } of tokens) {
      assert.equal((await new MailboxClient({ url, token }).mailbox()).address, address, access);
      if (access !== 'send') await (await openImap(facts, address, token)).logout();
    }
}

/** New messages may have come, with later UIDs. */
async function mailIsAsBefore(facts: ServiceFacts, { manifest, installation }: InstallationRecord): Promise<void> {
  for (const mailbox of installation.mailboxes) {
    const now = new Map((await readFolders(facts, mailbox)).map((found) => [found.path, found]));
    for (const recorded of mailbox.folders) {
      const found = now.get(recorded.path);
      assert.equal(found?.uidValidity, recorded.uidValidity, recorded.path);
      assert.ok((found?.uidNext ?? 0) >= recorded.uidNext, recorded.path);
      const before = found?.messages.filter(({ uid }) => uid < recorded.uidNext);
      const expected = recorded.messages.map((message) => ({
        ...message,
        internalDate: new Date(Date.parse(message.internalDate) + laterMs(manifest)).toISOString(),
      }));
      assert.deepEqual(before, expected, `${mailbox.address} ${recorded.path}`);
    }
  }
}

async function unfinishedWorkFinishes({ service, receiver, peer }: Upgraded, installation: RecordedInstallation) {
  const { facts } = service;
  const { owner, openDeliveries, waiting, consentId, endpoints, draft } = installation;
  const person = new OrganizationClient({ url: facts.apiUrl, session: owner.session });
  const secretOf = (path: string): string => endpoints.find((endpoint) => endpoint.path === path)?.secret ?? '';

  for (const { id, path: at } of openDeliveries) {
    const [request] = await waitUntil(
      `the delivery ${id}`,
      () => receiver.of(id).length > 0 && receiver.of(id),
      PATIENCE_MS,
    );
    assert.ok(request);
    assert.equal(request.path, at);
    assert.equal(request.headers['authorization'], 'Bearer of-the-receiver');
    verified(request, secretOf(at));
  }
  const sentWith = (subject: string) => peer.received.filter(({ bytes }) => bytes.includes(`Subject: ${subject}\r\n`));
  for (const { subject } of [waiting.scheduled, waiting.deferred])
    await waitUntil(`the mail "${subject}"`, () => sentWith(subject).length > 0, PATIENCE_MS);
  assert.equal(sentWith(waiting.held.subject).length, 0);
  assert.equal((await person.consents.get(consentId)).status, 'pending');
  await person.consents.approve(consentId, 'message');
  await waitUntil('the approved mail', () => sentWith(waiting.held.subject).length > 0, PATIENCE_MS);
  assert.equal((await person.mailbox(draft.mailboxId).getDraft(draft.id)).subject, draft.subject);

  // What is new passes through everything as well.
  const [mailbox] = installation.mailboxes;
  await deliverBySmtp(facts, { to: mailbox?.address ?? '', subject: 'After the upgrade', text: 'New.' });
  for (const { path: at, secret } of endpoints) {
    const isNew = ({ path: to, body }: Receiver['requests'][number]) => to === at && body.includes('After the upgrade');
    const request = await waitUntil('the new webhook', () => receiver.requests.find(isNew), PATIENCE_MS);
    verified(request, secret);
  }

  // Nothing was sent twice, and no workflow is left over or has failed.
  for (const { id } of openDeliveries) assert.equal(receiver.of(id).length, 1, id);
  for (const { subject } of Object.values(waiting)) assert.equal(sentWith(subject).length, 1, subject);
  const temporal = connectTemporal(readSettings({ TEMPORAL_ADDRESS: facts.temporalAddress }));
  const count = async (status: string): Promise<number> =>
    (
      await temporal.client.workflow.count(
        `ExecutionStatus = '${status}' and WorkflowType != 'temporal-sys-scheduler-workflow'`,
      )
    ).count;
  try {
    await waitUntil('the end of every workflow', async () => (await count('Running')) === 0, PATIENCE_MS);
    for (const status of ['Failed', 'Terminated', 'TimedOut', 'Canceled']) assert.equal(await count(status), 0, status);
  } finally {
    await temporal.close();
  }
}

test('every version that was released has a record, and no record is of a later version', () => {
  assert.deepEqual(
    released.filter((version) => !versions.includes(version)),
    [],
  );
  const current = projectVersion('.');
  assert.ok(versions.length > 0);
  for (const version of versions) {
    assert.ok(version.localeCompare(current, 'en', { numeric: true }) <= 0, version);
    assert.equal(readManifest(version).version, version);
  }
});

for (const version of versions) {
  for (const withTemporal of [true, false])
    test(`an installation of ${version} is upgraded and finishes what it began, ${withTemporal ? 'with the state of Temporal' : 'after Temporal has lost its state'}`, async () => {
      const record = readRecord(version);
      const upgraded = await upgrade(record, path.join(folder, `${version}-${withTemporal}`), withTemporal);
      try {
        await credentialsAreValid(upgraded.service.facts, record.installation);
        await mailIsAsBefore(upgraded.service.facts, record);
        await unfinishedWorkFinishes(upgraded, record.installation);
        await mailIsAsBefore(upgraded.service.facts, record);
      } finally {
        await upgraded.close();
      }
    });

  test(`today's workflows replay what workflows of ${version} had done`, async () => {
    const { histories } = readRecord(version).installation;
    const types = new Set(histories.map(({ type }) => type));
    assert.ok(types.isSupersetOf(new Set(['endpointDelivery', 'outboundMessage'])), [...types].join(', '));
    for (const { workflowId, history } of histories)
      await Worker.runReplayHistory({ workflowBundle: testWorkflowBundle() }, historyFromJSON(history), workflowId);
  });
}

let db: Database;
before(async () => {
  const database = await createEmptyDatabase();
  db = await openDatabase({ url: database.url, poolMax: 1 });
  after(async () => {
    await db.close();
    await database.drop();
  });
});

test('no migration of a recorded version has changed, and those since a release sort after its own', async () => {
  const today = await migrationChecksums(db);
  for (const version of versions) {
    const isReleased = released.includes(version);
    const hint = isReleased
      ? 'undo the change and write another migration'
      : `record it again: npm run record-installation -- ${version}`;
    const recorded = readManifest(version).migrations;
    const names = new Set(recorded.map(({ name }) => name));
    assert.deepEqual(
      today.filter(({ name }) => names.has(name)),
      recorded,
      `${version}: ${hint}`,
    );
    const newest = [...names].toSorted().at(-1) ?? '';
    const earlier = today.filter(({ name }) => !names.has(name) && name < newest).map(({ name }) => name);
    assert.deepEqual(
      isReleased ? earlier : [],
      [],
      `${version}: databases of this version would take them for foreign`,
    );
  }
});

/** Statements after which the code of the release before fails; see "Changing the schema" in CONTRIBUTING.md. */
const BREAKS_OLDER_CODE = [
  /\bdrop\s+(?:table|column|schema|type)\b/i,
  /\brename\b/i,
  /\balter\s+(?:column\s+)?\S+\s+(?:set\s+not\s+null|type|set\s+data\s+type|drop\s+default)\b/i,
  /\badd\s+column\s+(?:if\s+not\s+exists\s+)?\S+\s+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b/i,
  /\badd\s+(?:constraint\s+\S+\s+)?(?:check|unique|foreign\s+key|exclude)\b/i,
];
const breaksOlderCode = (statement: string): boolean =>
  BREAKS_OLDER_CODE.some((pattern) => pattern.test(statement.replaceAll(/--.*$/gm, '')));

test('statements that the code of the release before does not survive are recognized', () => {
  for (const statement of [
    'drop table message',
    'alter table message drop column stars',
    'alter table message rename column stars to rank',
    'alter table message alter column stars set not null',
    'alter table message alter stars type bigint',
    'alter table message add column stars smallint not null',
    'alter table message add constraint few check (stars < 3)',
  ])
    assert.equal(breaksOlderCode(statement), true, statement);
  for (const statement of [
    'create table star (id text primary key, n int not null, check (n > 0))',
    'alter table message add column stars smallint not null default 0',
    'alter table message add column stars smallint',
    'create index message_stars on message (stars)',
    'drop index message_stars',
  ])
    assert.equal(breaksOlderCode(statement), false, statement);
});

test('a migration since the last release works beside its code, or says that all processes must be stopped', async () => {
  const [last] = released;
  // Before the first release nobody has older code.
  const names = new Set((last === undefined ? migrations : readManifest(last).migrations).map(({ name }) => name));
  for (const migration of migrations.filter(({ name }) => !names.has(name)))
    for (const statement of (await statementsOf(db, migration)).flatMap((text) => text.split(';')))
      assert.ok(
        !breaksOlderCode(statement) || /-- stop all processes: \S/.test(statement),
        `${migration.name}: the released code fails after this statement:\n${statement}`,
      );
});
