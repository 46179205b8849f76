/** What operators do over HTTP, by the use cases of the commands, and who cannot. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NativeConnection } from '@temporalio/worker';
import { checkReceipt } from '#administration/erasure/receipt.ts';
import { routes } from '#api/routes.ts';
import { startApi } from '#api/start.ts';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import { OPERATOR_KEY_TRIES_PER_MINUTE } from '#domain/access/credential-format.ts';
import { type Answer, type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

let world: ApiWorld;
let connection: NativeConnection;
let worker: RunningWorker;

before(async () => {
  world = await apiWorld();
  connection = await NativeConnection.connect(temporalConnectionOptions(world.services.settings));
  worker = await startTestWorker(world.services, connection);
});
after(async () => {
  await worker?.close();
  await connection?.close();
  await world?.close();
});

const ask = (method: string, path: string, body?: object): Promise<Answer> =>
  world.call(method, `/api/operator/${path}`, { as: world.operator, ...(body === undefined ? {} : { body }) });

const SECRET = 'a subject nobody but the tenant reads';

async function held(to: string): Promise<string> {
  const { mailbox } = world.organization;
  const body = { to: [to], subject: SECRET, text: SECRET };
  const answer = await world.call('POST', '/api/mailbox/messages', { as: mailbox.token, body });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'id');
}

test('no key, token or session of a tenant reaches a route of operators, and no route has a weaker rule', async () => {
  const { key, owner, admin, mailbox } = world.organization;
  const own = routes.filter(({ path }) => path.startsWith('/api/operator'));
  assert.ok(own.length >= 11);
  for (const { method, path, auth } of own) {
    assert.equal(auth, 'instance', path);
    const address = path.replaceAll(/:\w+/g, 'x');
    for (const as of [key, owner.session, admin.session, mailbox.token]) {
      const answer = await world.call(method, address, { as, ...(method === 'GET' ? {} : { body: {} }) });
      assert.equal(answer.status, 403, `${method} ${path}`);
    }
  }
});

test('the overview counts what waits, and findings say what to do', async () => {
  await held('overview@stranger.example');
  const overview = await ask('GET', 'overview');
  assert.equal(overview.status, 200, overview.text);
  const consents = at(overview.body, 'queues', 2);
  assert.equal(at(consents, 'queue'), 'consents');
  assert.ok(Number(at(consents, 'waiting')) >= 1);
  assert.equal(at(overview.body, 'lastBackupAt'), null);
  assert.ok(Number(at(overview.body, 'disk', 'freeBytes')) > 0);
  const findings = await ask('GET', 'findings');
  assert.equal(findings.status, 200, findings.text);
  assert.match(findings.text, /"check":"postgresql","level":"ok"/);
});

test('tenants have their figures, by id and by slug', async () => {
  const { id, slug } = world.organization;
  const list = await ask('GET', 'organizations?limit=1');
  assert.equal(list.status, 200, list.text);
  assert.notEqual(at(list.body, 'nextCursor'), null);
  for (const name of [id, slug]) {
    const one = await ask('GET', `organizations/${name}?days=1`);
    assert.equal(at(one.body, 'id'), id);
    assert.equal(at(one.body, 'mailboxes'), 1);
  }
  assert.equal((await ask('GET', 'organizations/nobody')).status, 404);
});

test('a mail is found across tenants with its steps, and without its content', async () => {
  const id = await held('find@stranger.example');
  const found = await ask('GET', 'mail?about=find@stranger.example');
  assert.equal(found.status, 200, found.text);
  assert.ok(found.text.includes(id));
  assert.match(found.text, /"step":"submitted"/);
  assert.ok(!found.text.includes(SECRET));
  const wrong = await ask('GET', 'mail?about=x&since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z');
  assert.equal(errorCode(wrong), 'invalid_request');
});

test('outgoing mail is held, released and dropped, with entries in the log of its tenant', async () => {
  const id = await held('queue@stranger.example');
  const queue = await ask('GET', 'queue?to=queue@stranger.example');
  assert.equal(at(queue.body, 'count'), 1, queue.text);
  assert.ok(!queue.text.includes(SECRET));
  for (const action of ['hold', 'release']) {
    const answer = await ask('PUT', 'queue', { action, about: id });
    assert.deepEqual([answer.status, answer.body], [200, { changed: [id], next: null }], answer.text);
  }
  assert.equal((await ask('PUT', 'queue', { action: 'hold' })).status, 400);
  assert.equal((await ask('PUT', 'queue', { action: 'drop', about: id })).status, 400, 'it must be confirmed');
  const dropped = await ask('PUT', 'queue', { action: 'drop', about: id, yes: true });
  assert.deepEqual(dropped.body, { changed: [id], next: null }, dropped.text);
  const log = await world.call('GET', `/api/audit?targetId=${id}`, { as: world.organization.key });
  for (const action of ['mail.on_hold', 'mail.released', 'mail.dropped']) assert.ok(log.text.includes(action), action);
});

test('an erasure is confirmed, goes on in the background, and ends with a signed receipt', async () => {
  const organization = await world.newOrganization('team');
  const subject = organization.mailbox.address;
  const rehearsed = await ask('GET', `erasures/rehearsal?kind=mailbox&subject=${encodeURIComponent(subject)}`);
  assert.equal(at(rehearsed.body, 'counts', 'mailboxes'), 1, rehearsed.text);
  assert.equal((await ask('POST', 'erasures', { kind: 'mailbox', subject })).status, 400, 'it must be confirmed');
  const begun = await ask('POST', 'erasures', { kind: 'mailbox', subject, yes: true });
  assert.equal(begun.status, 202, begun.text);
  const id = textAt(begun.body, 'id');
  const read = () => ask('GET', `erasures/${id}`);
  await waitUntil('the receipt', async () => at((await read()).body, 'state') === 'finished');
  const { body } = await read();
  assert.equal(at(body, 'counts', 'mailboxes'), 1);
  assert.equal(checkReceipt(world.services.pepper, textAt(body, 'receipt'))?.signed, 'own');
  assert.deepEqual(await world.sql('select 1 from mailboxes where id = $1', [organization.mailbox.id]), []);
  const again = await ask('POST', 'erasures', { kind: 'mailbox', subject: organization.mailbox.id, yes: true });
  assert.equal(at(again.body, 'id'), id, 'nothing is left: the same erasure');
  assert.ok((await ask('GET', 'erasures')).text.includes(id));
  const nobody = await ask('POST', 'erasures', { kind: 'mailbox', subject: newId('mailbox'), yes: true });
  assert.equal(nobody.status, 404);
  const address = await ask('POST', 'erasures', { kind: 'correspondent', subject: 'no address', yes: true });
  assert.equal(errorCode(address), 'invalid_request');
});

test('an organization is deleted, and people of it reach nothing any more', async () => {
  const organization = await world.newOrganization('team');
  const begun = await ask('POST', 'erasures', { kind: 'organization', subject: organization.slug, yes: true });
  const id = textAt(begun.body, 'id');
  await waitUntil('the end', async () => at((await ask('GET', `erasures/${id}`)).body, 'state') === 'finished');
  assert.equal((await world.call('GET', '/api/mailboxes', { as: organization.key })).status, 401);
  assert.equal((await ask('GET', `organizations/${organization.id}`)).status, 404);
});

test('each use of the key is in the log of the installation, by ids alone', async () => {
  const { id } = world.organization;
  const suspension = { as: { ...world.operator, 'x-organization-id': id }, body: { suspended: false } };
  assert.equal((await world.call('PUT', '/api/organization/suspension', suspension)).status, 200);
  await ask('GET', 'mail?about=logged@stranger.example');
  assert.equal((await world.call('GET', '/api/mailboxes', { as: world.operator })).status, 403);
  const log = await ask('GET', 'uses');
  const entries = at(log.body, 'data');
  assert.ok(Array.isArray(entries));
  const shown = entries
    .slice(0, 4)
    .map((entry) => [at(entry, 'operation'), at(entry, 'targetId'), at(entry, 'status')]);
  assert.deepEqual(shown, [
    ['listOperatorUses', null, null],
    ['listMailboxes', null, 403],
    ['findOperatorMail', null, 200],
    ['suspendOrganization', id, 200],
  ]);
  assert.ok(!log.text.includes('logged@stranger.example'));
  const only = await ask('GET', 'uses?operation=suspendOrganization&limit=1');
  assert.equal(at(only.body, 'data', 0, 'operation'), 'suspendOrganization');
});

test('wrong operator keys of a neighbour do not lock out the operator whose key cannot be guessed', async () => {
  const { services, temporal } = world;
  const right = `amo_${'k3m9w7x2q'.repeat(4)}`;
  const api = await startApi({ ...services, settings: { ...services.settings, OPERATOR_KEY: right } }, temporal);
  try {
    const call = (key: string) =>
      world.call('GET', `${api.url}/api/operator/overview`, {
        as: { 'x-operator-key': key, 'x-forwarded-for': '198.51.100.8' },
      });
    for (let i = 0; i < OPERATOR_KEY_TRIES_PER_MINUTE; i++) assert.equal((await call(`amo_wrong${i}`)).status, 401);
    assert.equal(errorCode(await call('amo_wrong')), 'rate_limited');
    assert.equal((await call(right)).status, 200);
  } finally {
    await api.close();
    await world.sql(`update public_address set url = $1`, [world.api.url]);
  }
});

test('wrong operator keys are counted by source, on every route; then a right one that could be guessed is refused', async () => {
  const from = (source: string, key: string) => ({ 'x-operator-key': key, 'x-forwarded-for': source });
  const call = (source: string, key: string, path = '/api/operator/overview') =>
    world.call('GET', path, { as: from(source, key) });
  for (let i = 0; i < OPERATOR_KEY_TRIES_PER_MINUTE; i++)
    assert.equal((await call('198.51.100.7', `amo_wrong${i}`, i % 2 === 0 ? '/api/audit' : undefined)).status, 401);
  const right = world.services.settings.OPERATOR_KEY ?? '';
  const limited = await call('198.51.100.7', right);
  assert.equal(errorCode(limited), 'rate_limited');
  assert.ok(Number(limited.headers.get('retry-after')) > 0);
  assert.equal((await call('203.0.113.9', right)).status, 200, 'others are not refused');
});
