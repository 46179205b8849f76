/** Rotation of DKIM keys: mail verifies before, during and after it, whatever dies in between. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allOtherDkimKeys, publishedDkimKeys } from '#core/mailboxes/dkim-keys.ts';
import {
  continueDkimRotations,
  DKIM_RETIRE_AFTER_MS,
  retireDkimKeys,
  startDkimRotation,
} from '#core/mailboxes/dkim-rotation.ts';
import { startDkimUpkeep } from '#core/mailboxes/dkim-upkeep.ts';
import { dkimRecord, instanceDkimKey, instanceDkimRecord } from '#core/mailboxes/domain-records.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { dkimFindings } from '#core/process/diagnosis/dkim-findings.ts';
import { openMetrics } from '#core/process/expose-metrics.ts';
import { signMessage } from '#sending/transports/dkim.ts';
import { runProgram } from '#test/mail/clients/run-program.ts';
import { type TestDns, testDns } from '#test/support/dns-server.ts';
import { needs, programFile } from '#test/support/programs.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { openTestServices } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PYTHON = 'python3 with dkim';
const SCRIPT = fileURLToPath(new URL('../mail/clients/dkim_verify.py', import.meta.url));
const DOMAIN = 'agents.test';
const CUSTOMER = 'customer.example';
const DAY_MS = 86_400_000;
const MAIL = Buffer.from('From: a@agents.test\r\nTo: b@example.com\r\nSubject: Hello\r\n\r\nSome words.\r\n');

let services: Services;
let variables: Record<string, string>;
/** A resolver, and a server of the zone. */
let dns: TestDns;
let zone: TestDns;
let nowMs: number;
let organizationId: string;
let domainId: string;

const findZoneServers = async () => [zone.address];
const go = () => continueDkimRotations(services, { findZoneServers });

before(async () => {
  dns = await testDns();
  zone = await testDns();
  const secrets = { SECRETS_KEYS: `test:${'k'.repeat(43)}=`, CREDENTIAL_PEPPER: 'p'.repeat(44) };
  const opened = await openTestServices({ ...secrets, DNS_SERVERS: dns.address });
  services = { ...opened, now: () => nowMs };
  const { DATABASE_URL = '', DATA_DIR } = services.settings;
  variables = { ...secrets, DATABASE_URL, DATA_DIR, DNS_SERVERS: dns.address, MAIL_DOMAIN: DOMAIN };
});
after(async () => {
  await services.close();
  await dns.close();
  await zone.close();
});
beforeEach(async () => {
  nowMs = Date.now();
  dns.silent = false;
  zone.silent = false;
  dns.records = [];
  zone.records = [];
  await services.db.query('truncate dkim_key, dkim_rotation, organizations cascade');
  organizationId = newId('organization');
  await services.db.query(`insert into organizations (id, name, slug, plan) values ($1, 'One', 'one', 'unlimited')`, [
    organizationId,
  ]);
  await instanceDkimKey(services);
  domainId = newId('domain');
});

/** A verified domain of the organization, with the key of the instance as its own: only its place differs. */
async function addCustomer(): Promise<void> {
  const { selector, publicKey, privateKey } = await instanceDkimKey(services);
  await services.db.query(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key,
       dkim_private_key_sealed) values ($1, $2, $3, 'verified', 't', $4, $5, $6)`,
    [
      domainId,
      organizationId,
      CUSTOMER,
      selector,
      publicKey,
      services.secrets.seal(privateKey, `domains:dkim_private_key:${domainId}`),
    ],
  );
}

const publish = (domain: string, key: { selector: string; publicKey: string }, at = [dns, zone]): void => {
  const { type, name, value } = dkimRecord(domain, key);
  for (const server of at) server.records = [...server.records, { type, name, value }];
};
const publishSigning = async (): Promise<void> => {
  const key = await instanceDkimRecord(services.db, services.settings);
  assert.ok(key);
  publish(DOMAIN, key);
};
const start = async (domain = DOMAIN) => {
  const started = await startDkimRotation(services, domain);
  assert.ok(started);
  return started;
};
const selectorOf = (signature: string): string | undefined => / s=([^;]+);/.exec(signature)?.[1];
async function signed(domain = DOMAIN): Promise<{ bytes: Buffer; selector: string | undefined }> {
  const field = await signMessage(services, { organization: { id: organizationId }, mailbox: { domain } }, MAIL);
  return { bytes: Buffer.concat([Buffer.from(field), MAIL]), selector: selectorOf(field) };
}
async function verifies(message: Buffer): Promise<unknown> {
  const input = JSON.stringify({ message: message.toString('base64'), server: dns.address });
  const { stdout, stderr } = await runProgram(programFile(PYTHON), [SCRIPT], { input });
  assert.match(stdout, /^\{/, stderr);
  return (JSON.parse(stdout) as { verified: boolean }).verified;
}
const states = async () => (await allOtherDkimKeys(services.db)).map(({ state }) => state);

test(
  'mail signed before, during and after a rotation verifies, and the old record may go after eight days',
  needs(PYTHON),
  async () => {
    await publishSigning();
    const first = await signed();
    const { key, isNew } = await start();
    assert.ok(isNew);
    await go();
    const during = await signed();
    assert.equal(during.selector, first.selector, 'DNS does not have the next key');
    publish(DOMAIN, key);
    assert.deepEqual(
      (await go()).switched.map(({ selector }) => selector),
      [key.selector],
    );
    const last = await signed();
    assert.deepEqual([last.selector, first.selector === key.selector], [key.selector, false]);
    for (const { bytes } of [first, during, last]) assert.equal(await verifies(bytes), true);
    // A key that signs no more has no private part left.
    const [old] = await services.db.query<{ sealed: string | null }>(
      'select private_key_sealed as sealed from dkim_rotation',
    );
    assert.deepEqual([await states(), old?.sealed], [['retiring'], null]);
    nowMs += DKIM_RETIRE_AFTER_MS - 1;
    assert.deepEqual((await go()).retired, []);
    nowMs += 1;
    assert.equal((await go()).retired.length, 1);
    assert.ok(DKIM_RETIRE_AFTER_MS > 7 * DAY_MS);
    // Reported until the record is gone.
    await go();
    assert.deepEqual(await states(), ['retired']);
    dns.records = dns.records.filter(({ name }) => name.startsWith(key.selector));
    zone.records = dns.records;
    assert.equal((await go()).forgotten.length, 1);
    assert.equal(await verifies(last.bytes), true);
    assert.equal(await verifies(first.bytes), false);
  },
);

test('nothing signs with a key that one name server lacks; one that is silent delays it by an hour', async () => {
  const { key } = await start();
  publish(DOMAIN, key, [dns]);
  nowMs += 2 * DAY_MS;
  assert.deepEqual((await go()).switched, []);
  const [waiting] = await publishedDkimKeys(services.db, null);
  assert.match(waiting?.dnsAnswer ?? '', new RegExp(`^${dns.address} has it; ${zone.address} does not have it$`));
  zone.silent = true;
  assert.deepEqual((await go()).switched, [], 'perhaps it lacks it');
  nowMs += 3_600_000;
  assert.equal((await go()).switched.length, 1);
});

test('the record of another key is not the record', async () => {
  const { key } = await start();
  publish(DOMAIN, { selector: key.selector, publicKey: 'AAAA' });
  assert.deepEqual((await go()).switched, []);
});

test('two processes make one next key, and switch once', async () => {
  const started = await Promise.all([start(), start(), start()]);
  assert.deepEqual(new Set(started.map(({ key }) => key.selector)).size, 1);
  assert.equal(started.filter(({ isNew }) => isNew).length, 1);
  const [first] = started;
  assert.ok(first);
  publish(DOMAIN, first.key);
  const went = await Promise.all([go(), go(), go()]);
  assert.equal(went.flatMap(({ switched }) => switched).length, 1);
  assert.deepEqual(await states(), ['retiring']);
});

test('a crash in the middle of the switch leaves the old key signing, and the next look finishes it', async () => {
  const before = await signed();
  const { key } = await start();
  publish(DOMAIN, key);
  await services.db.query(`create function crash() returns trigger language plpgsql as $$ begin
    raise exception 'crash'; end $$`);
  await services.db.query(`create trigger crash before insert on dkim_rotation for each row execute function crash()`);
  await assert.rejects(go(), /crash/);
  assert.deepEqual([(await signed()).selector, await states()], [before.selector, ['next']]);
  await services.db.query('drop trigger crash on dkim_rotation');
  await services.db.query('drop function crash');
  assert.equal((await go()).switched.length, 1);
  assert.equal((await signed()).selector, key.selector);
});

test('the domain of an organization has a rotation of its own, in its audit log', async () => {
  await addCustomer();
  const own = await instanceDkimRecord(services.db, services.settings);
  const { key } = await start(CUSTOMER);
  publish(CUSTOMER, key);
  await go();
  assert.deepEqual([(await signed(CUSTOMER)).selector, (await signed()).selector], [key.selector, own?.selector]);
  const audit = await services.db.query<{ action: string }>(
    'select action from audit_entries where organization_id = $1 order by id',
    [organizationId],
  );
  assert.deepEqual(
    audit.map(({ action }) => action),
    ['domain.dkim_key_created', 'domain.dkim_key_switched'],
  );
  // A key of a deleted domain is deleted with it.
  await services.db.query('delete from domains');
  assert.deepEqual(await states(), []);
});

test('a domain that is not verified, or not here, has no rotation', async () => {
  await addCustomer();
  await services.db.query(`update domains set status = 'pending'`);
  assert.equal(await startDkimRotation(services, CUSTOMER), undefined);
  assert.equal(await startDkimRotation(services, 'elsewhere.example'), undefined);
});

test('selectors of one day differ', async () => {
  const selectors = new Set<string>();
  for (let n = 0; n < 3; n++) {
    const { key } = await start();
    selectors.add(key.selector);
    publish(DOMAIN, key);
    await go();
    await retireDkimKeys(services, DOMAIN);
  }
  assert.equal(selectors.size, 3);
});

test('doctor and metrics know keys of more than a year, and rotations that wait', async () => {
  const findings = () => dkimFindings(services);
  assert.deepEqual(
    (await findings()).map(({ level }) => level),
    ['ok'],
  );
  await services.db.query(`update dkim_key set created_at = now() - interval '367 days'`);
  const [old] = await findings();
  assert.deepEqual([old?.level, old?.todo], ['warning', `Run \`agent-mailbox-admin dkim rotate ${DOMAIN}\`.`]);
  await start();
  assert.deepEqual(
    (await findings()).map(({ level }) => level),
    ['note', 'ok'],
  );
  nowMs += 3 * DAY_MS;
  assert.match((await findings())[0]?.what ?? '', /^The next DKIM key \S+ of agents\.test waits for DNS since 3 days/);
  const { text } = await openMetrics(services, 'api')();
  const age = Number(/^agent_mailbox_dkim_signing_key_age_seconds (\S+)$/m.exec(text)?.[1]);
  assert.ok(age > 365 * 86_400, text);
});

test('the service carries rotations on by itself', async () => {
  const { key } = await start();
  publish(DOMAIN, key);
  await services.db.query(`delete from sweeps where name = 'DKIM keys'`);
  // The zone of the test is not asked here: nothing in its DNS says who serves it.
  const upkeep = startDkimUpkeep(services);
  try {
    await waitUntil('the switch', async () => (await signed()).selector === key.selector, 30_000);
  } finally {
    await upkeep.close();
  }
});

test('an operator rotates, looks and retires by commands', async () => {
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAdmin(['dkim', ...args, '--json'], { environment: variables });
    assert.match(stdout, /^\{/, stderr);
    return {
      code,
      answer: JSON.parse(stdout) as {
        keys?: { state: string; record: string; selector: string }[];
        retired?: string[];
      },
    };
  };
  const rotating = await admin('rotate');
  assert.deepEqual([rotating.code, rotating.answer.keys?.map(({ state }) => state)], [3, ['signing', 'next']]);
  const next = rotating.answer.keys?.[1];
  assert.match(next?.record ?? '', /^am\d{8}\w?\._domainkey\.agents\.test\. 3600 IN TXT "v=DKIM1; k=rsa; p=/);
  const shown = await runAdmin(['dns-records', '--json'], { environment: variables });
  assert.equal(shown.stdout.match(/_domainkey\.agents\.test"/g)?.length, 2);
  const [key] = await publishedDkimKeys(services.db, null);
  assert.ok(key);
  publish(DOMAIN, key);
  const switched = await admin('rotate', DOMAIN);
  assert.deepEqual([switched.code, switched.answer.keys?.map(({ state }) => state)], [0, ['signing', 'retiring']]);
  const asked = await admin('rotate', DOMAIN);
  assert.deepEqual([asked.code, asked.answer.keys?.length], [0, 2], 'it begins no other rotation');
  assert.equal((await admin('retire')).answer.retired?.length, 1);
  assert.deepEqual(
    (await admin('list')).answer.keys?.map(({ state }) => state),
    ['signing', 'retired'],
  );
  const unknown = await runAdmin(['dkim', 'rotate', 'elsewhere.example'], { environment: variables });
  assert.deepEqual([unknown.code, /does not sign here/.test(unknown.stderr)], [1, true]);
});
