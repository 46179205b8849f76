/** The trigger for n8n against the service: what starts a workflow, and what keeps the trigger alive. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { Fields } from '../../integrations/n8n/src/n8n-interfaces.ts';
import type { TriggerWorkflow } from './n8n-host.ts';
import { type N8nWorld, n8nWorld } from './n8n-world.ts';

let world: N8nWorld;
before(async () => {
  world = await n8nWorld();
});
after(() => world?.close());

const parameters = { eventTypes: ['email_received'], includeExtracts: false };
const endpoints = async (id: string): Promise<Fields[]> => {
  const { body } = await world.service.call('GET', '/api/webhooks?limit=100', { as: world.service.organization.key });
  return (at(body, 'data') as Fields[]).filter(({ description }) => String(description).includes(`/${id}/`));
};
const endpointOf = async (id: string): Promise<Fields> => {
  const [endpoint, ...others] = await endpoints(id);
  assert.ok(endpoint !== undefined && others.length === 0, `one endpoint of ${id}`);
  return endpoint;
};
const change = (endpoint: Fields, method: string, more = '', body?: object) =>
  world.service.call(method, `/api/webhooks/${String(endpoint['id'])}${more}`, {
    as: world.service.organization.key,
    ...(body === undefined ? {} : { body }),
  });
const subjects = ({ executions }: TriggerWorkflow): unknown[] =>
  executions.flat().map((event) => at(event, 'data', 'subject'));
const arrival = (workflow: TriggerWorkflow, subject: string) =>
  waitUntil(`${subject} to start the workflow`, () => subjects(workflow).includes(subject));
const givenUp = (endpoint: Fields, count: number) =>
  waitUntil('deliveries to be given up', async () => {
    const { body } = await change(endpoint, 'GET', '/deliveries?status=exhausted');
    return at(body, 'total') === count;
  });

/** An active workflow about a mailbox of its own. */
async function activeWorkflow(id: string): Promise<{ workflow: TriggerWorkflow; mailbox: TestMailbox }> {
  const mailbox = await world.service.newMailbox(world.service.organization);
  const workflow = world.n8n.workflow(id, world.withKey(), { ...parameters, mailboxId: mailbox.id });
  await workflow.activate();
  return { workflow, mailbox };
}

test('starts the workflow by a delivery, once, and by no request that is not signed', async () => {
  const { mailbox, workflow } = await activeWorkflow('signed');
  await world.mailTo(mailbox, 'First');
  await arrival(workflow, 'First');
  assert.deepEqual(
    [at(workflow.executions, 0, 0, 'type'), at(workflow.executions, 0, 0, 'mailbox', 'id')],
    ['email_received', mailbox.id],
  );
  const delivery = world.n8n.received.findLast(({ path: to }) => to === '/webhook/signed/webhook');
  assert.ok(delivery !== undefined);
  const { body, headers } = delivery;
  assert.equal(await workflow.request(headers, body), 200, 'a repeated delivery is acknowledged');
  assert.equal(await workflow.request(headers, body.replace('First', 'Forged')), 401);
  assert.equal(await workflow.request({ 'content-type': 'application/json' }, body), 401);
  const key = Buffer.from(textAt(workflow.staticData(), 'production', 'secret').replace('whsec_', ''), 'base64');
  const other = JSON.stringify({ ...(JSON.parse(body) as object), id: 'evt_x' });
  const signed = (secondsAgo: number, by = key): Record<string, string> => {
    const timestamp = String(Math.floor(Date.now() / 1_000) - secondsAgo);
    const signature = createHmac('sha256', by).update(`dlv_x.${timestamp}.${other}`).digest('base64');
    return { 'webhook-id': 'dlv_x', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  };
  assert.equal(await workflow.request(signed(600), other), 401, 'recorded earlier');
  assert.equal(await workflow.request(signed(0, Buffer.alloc(32, 7)), other), 401, 'another secret');
  assert.equal(workflow.executions.length, 1);
  workflow.failNextStart();
  assert.equal(await workflow.request(signed(0), other), 500);
  assert.equal(workflow.executions.length, 1);
  assert.equal(
    await workflow.request(signed(0), other),
    200,
    'what could not be started is not taken for a repetition',
  );
  assert.equal(workflow.executions.length, 2);
  await workflow.deactivate();
  assert.deepEqual([await endpoints('signed'), workflow.staticData()], [[], {}]);
});

test('remembers a bounded number of events', async () => {
  const { workflow } = await activeWorkflow('bounded');
  const key = Buffer.from(textAt(workflow.staticData(), 'production', 'secret').replace('whsec_', ''), 'base64');
  const send = (number: number): Promise<number> => {
    const [id, timestamp] = [`dlv_${number}`, String(Math.floor(Date.now() / 1_000))];
    const body = JSON.stringify({ id: `evt_${number}` });
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return workflow.request(
      { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
      body,
    );
  };
  for (let number = 0; number < 520; number++) assert.equal(await send(number), 200);
  for (const number of [519, 20]) assert.equal(await send(number), 200);
  assert.equal(workflow.executions.length, 520);
  assert.equal(await send(19), 200);
  assert.equal(workflow.executions.length, 521, 'the 501st to last is forgotten');
  await workflow.deactivate();
});

test('an inactive endpoint is activated at the next poll, and mail of the meantime starts the workflow', async () => {
  const { mailbox, workflow } = await activeWorkflow('inactive');
  await world.mailTo(mailbox, 'Before');
  await arrival(workflow, 'Before');
  const endpoint = await endpointOf('inactive');
  await change(endpoint, 'PATCH', '', { active: false });
  await world.mailTo(mailbox, 'Meanwhile');
  await workflow.poll();
  assert.deepEqual(subjects(workflow), ['Before', 'Meanwhile']);
  assert.equal(at(workflow.executions, 1, 0, 'missed'), true);
  assert.equal((await endpointOf('inactive'))['active'], true);
  assert.match(workflow.logged.join('\n'), /was activated/);
  await world.mailTo(mailbox, 'After');
  await arrival(workflow, 'After');
  await workflow.poll();
  assert.equal(workflow.executions.length, 3, 'nothing comes twice');
  await workflow.deactivate();
});

test('after downtime of n8n, what was given up is sent again', async () => {
  const { mailbox, workflow } = await activeWorkflow('downtime');
  const endpoint = await endpointOf('downtime');
  await world.n8n.stop();
  for (const subject of ['One', 'Two', 'Three']) await world.mailTo(mailbox, subject);
  await givenUp(endpoint, 3);
  await world.n8n.start();
  await workflow.activate();
  for (const subject of ['One', 'Two', 'Three']) await arrival(workflow, subject);
  assert.equal((await endpointOf('downtime'))['id'], endpoint['id'], 'the same endpoint');
  assert.equal(workflow.executions.length, 3);
  await workflow.deactivate();
});

test('downtime in which the endpoint was set inactive loses no mail either', async () => {
  const { mailbox, workflow } = await activeWorkflow('both');
  const endpoint = await endpointOf('both');
  await world.n8n.stop();
  await world.mailTo(mailbox, 'Given up');
  await givenUp(endpoint, 1);
  await change(endpoint, 'PATCH', '', { active: false });
  await world.mailTo(mailbox, 'Not recorded');
  await world.n8n.start();
  await workflow.activate();
  await arrival(workflow, 'Given up');
  await arrival(workflow, 'Not recorded');
  assert.equal(workflow.executions.length, 2);
  await workflow.deactivate();
});

test('a deleted endpoint is registered again at the next poll, and its deliveries verify', async () => {
  const { mailbox, workflow } = await activeWorkflow('deleted');
  const former = await endpointOf('deleted');
  await change(former, 'DELETE');
  await world.mailTo(mailbox, 'Unsent');
  await workflow.poll();
  assert.notEqual((await endpointOf('deleted'))['id'], former['id']);
  assert.deepEqual(subjects(workflow), ['Unsent']);
  await world.mailTo(mailbox, 'Signed anew');
  await arrival(workflow, 'Signed anew');
  assert.equal(at(workflow.staticData(), 'production', 'endpointId'), (await endpointOf('deleted'))['id']);
  await workflow.deactivate();
  assert.deepEqual(await endpoints('deleted'), []);
});

test('a secret that a person rotated is replaced, and the delivery comes again', async () => {
  const { mailbox, workflow } = await activeWorkflow('rotated');
  await change(await endpointOf('rotated'), 'POST', '/rotate-secret', {});
  await world.mailTo(mailbox, 'After the rotation');
  await arrival(workflow, 'After the rotation');
  await workflow.deactivate();
});

test('a delivery that comes before n8n has stored the secret is verified', async () => {
  const { mailbox, workflow } = await activeWorkflow('early');
  const { secretPrefix } = await endpointOf('early');
  workflow.loseStaticData();
  await world.mailTo(mailbox, 'At once');
  await arrival(workflow, 'At once');
  assert.equal((await endpointOf('early'))['secretPrefix'], secretPrefix, 'the secret was not replaced');
  await workflow.deactivate();
});

test('address and events that somebody changed are corrected, and lost static data makes no second endpoint', async () => {
  const { mailbox, workflow } = await activeWorkflow('changed');
  const { id, url } = await endpointOf('changed');
  await change({ id }, 'PATCH', '', { url: 'https://localhost:1/', eventTypes: ['email_sent'] });
  await workflow.activate();
  const repaired = await endpointOf('changed');
  assert.deepEqual([repaired['id'], repaired['url'], repaired['eventTypes']], [id, url, ['email_received']]);
  const copy = world.n8n.workflow('changed', world.withKey(), workflow.parameters);
  await copy.activate();
  assert.equal((await endpointOf('changed'))['id'], id);
  await world.mailTo(mailbox, 'To the copy');
  await arrival(copy, 'To the copy');
  await copy.deactivate();
});

test('a test in the editor has its own endpoint and address', async () => {
  const { mailbox, workflow } = await activeWorkflow('tested');
  await workflow.listenForTest();
  const urls = (await endpoints('tested')).map(({ url }) => new URL(String(url)).pathname).toSorted();
  assert.deepEqual(urls, ['/webhook-test/tested/webhook', '/webhook/tested/webhook']);
  await world.mailTo(mailbox, 'For both');
  await waitUntil('both executions', () => workflow.executions.length === 2);
  await workflow.endTest();
  await workflow.endFailedTest();
  assert.equal(new URL(String((await endpointOf('tested'))['url'])).pathname, '/webhook/tested/webhook');
  await world.mailTo(mailbox, 'After the test');
  await arrival(workflow, 'After the test');
  await workflow.deactivate();
});

test('what it cannot repair is an error, and an unreachable service does not make it forget', async () => {
  const { workflow } = await activeWorkflow('loud');
  const endpoint = await endpointOf('loud');
  const known = workflow.staticData();
  const suspended = {
    as: { ...world.service.operator, 'x-organization-id': world.service.organization.id },
    body: { suspended: true },
  };
  await world.service.call('PUT', `/api/webhooks/${String(endpoint['id'])}/suspension`, suspended);
  await assert.rejects(workflow.poll(), /suspended by the operator/);
  await world.service.call('PUT', `/api/webhooks/${String(endpoint['id'])}/suspension`, {
    ...suspended,
    body: { suspended: false },
  });
  await workflow.poll();
  const { credentials } = workflow;
  const address = credentials.url;
  Object.assign(credentials, { url: 'http://127.0.0.1:1' });
  await assert.rejects(workflow.activate());
  await assert.rejects(workflow.poll());
  assert.deepEqual(workflow.staticData(), known);
  Object.assign(credentials, { url: address });
  await workflow.activate();
  assert.equal((await endpointOf('loud'))['id'], endpoint['id']);
  await world.service.sql(`update webhook_endpoints set failing_since = now() - interval '1 hour' where id = $1`, [
    endpoint['id'],
  ]);
  await assert.rejects(workflow.poll(), /has not reached https:\/\/localhost/);
  await workflow.deactivate();
  const token = world.n8n.workflow('token', world.withToken(world.service.organization.mailbox), parameters);
  await assert.rejects(token.activate(), /needs an API key/);
  assert.deepEqual(token.logged, [], 'nothing was registered, so nothing is deleted');
});
