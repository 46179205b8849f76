/** What an organization requires of sessions without a second factor, at every way to a decision. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { routes } from '#api/routes.ts';
import {
  type ApiWorld,
  apiWorld,
  type Credential,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { holdMail } from '#test/support/held-mail.ts';
import { addTotp } from '#test/support/second-factor.ts';
import { approvalLink, holdMessage } from './approval-link-world.ts';

let world: ApiWorld;
let of: TestOrganization;
before(async () => {
  world = await apiWorld();
  of = await world.newOrganization('business');
  await addTotp(world, of.owner);
});
after(() => world?.close());

const setPolicy = (secondFactor: string, as: Credential = of.owner.session) =>
  world.call('PATCH', '/api/organization', { as, body: { settings: { secondFactor } } });

async function required(policy: 'approvers' | 'everyone'): Promise<void> {
  const answer = await setPolicy(policy);
  assert.equal(answer.status, 200, answer.text);
}

const BODIES: readonly (readonly [method: string, path: (consentId: string) => string, body: object])[] = [
  ['POST', (id) => `/api/consents/${id}/approve`, { scope: 'message' }],
  ['POST', (id) => `/api/consents/${id}/deny`, {}],
  ['POST', (id) => `/api/consents/${id}/return`, { comment: 'Shorter.' }],
  ['POST', (id) => `/api/consents/${id}/take-back`, {}],
];

test('nobody turns it on without a second factor of the own', async () => {
  const refused = await setPolicy('approvers', of.admin.session);
  assert.equal(errorCode(refused), 'conflict');
  assert.match(refused.text, /My account/);
});

describe('approvers', () => {
  before(() => required('approvers'));

  test('a session without a second factor reads and decides nothing; with one it decides', async () => {
    const { consentId } = await holdMessage(world, of);
    const as = of.admin.session;
    assert.equal((await world.call('GET', `/api/consents/${consentId}/message`, { as })).status, 200);
    for (const [method, path, body] of BODIES) {
      const answer = await world.call(method, path(consentId), { as, body });
      assert.equal(errorCode(answer), 'second_factor_required', `${path(consentId)} ${answer.text}`);
      assert.match(answer.text, /\/settings\/account/);
    }
    const decided = await world.call('POST', `/api/consents/${consentId}/approve`, {
      as: of.owner.session,
      body: { scope: 'message' },
    });
    assert.equal(decided.status, 200, decided.text);
  });

  test('held mail and approvals in advance need it too', async () => {
    const as = of.admin.session;
    const id = await holdMail(world, of);
    const held = await world.call('POST', `/api/held-mail/${id}/decide`, { as, body: { decision: 'release' } });
    assert.equal(errorCode(held), 'second_factor_required');
    const standing = await world.call('POST', '/api/standing-approvals', {
      as,
      body: {
        mailboxId: of.mailbox.id,
        recipients: ['customer.example'],
        endsAt: new Date(Date.now() + 3_600_000).toISOString(),
        messagesMax: 5,
      },
    });
    assert.equal(errorCode(standing), 'second_factor_required');
  });

  test('no route of the organization lets such a session change anything', async () => {
    const { session: as } = await world.newPerson(of.id, 'owner');
    for (const route of routes) {
      const acts = typeof route.auth === 'object';
      if (!acts || route.method === 'GET') continue;
      const path = route.path.replace(/:[a-z]+/g, of.mailbox.id);
      const answer = await world.call(route.method, path, { as, body: {} });
      assert.equal(errorCode(answer), 'second_factor_required', `${route.method} ${route.path}: ${answer.text}`);
    }
  });

  test('a link of a notice shows the message and decides nothing', async () => {
    const held = await holdMessage(world, of);
    const as = await approvalLink(world, of, held);
    const shown = await world.call('GET', '/api/approval', { as });
    assert.equal(shown.status, 200);
    assert.match(shown.text, /"mayDecide":false/);
    for (const [step, body] of [
      ['approve', { scope: 'message' }],
      ['deny', {}],
      ['return', { comment: 'Shorter.' }],
    ] as const) {
      const answer = await world.call('POST', `/api/approval/${step}`, { as, body });
      assert.equal(errorCode(answer), 'second_factor_required', step);
      assert.match(answer.text, /Sign in/);
    }
  });

  test('keys and tokens work as before', async () => {
    const sent = await world.call('POST', '/api/mailbox/messages', {
      as: of.mailbox.token,
      body: { to: [of.mailbox.address], subject: 'x', text: 'x' },
    });
    assert.equal(sent.status, 201, sent.text);
  });

  test('the set-up stays open, so the last owner who has lost the factor adds another one', async () => {
    const person = await world.newPerson(of.id, 'owner');
    assert.equal(errorCode(await setPolicy('off', person.session)), 'second_factor_required');
    await addTotp(world, person);
    assert.equal((await setPolicy('approvers', person.session)).status, 200);
  });
});

describe('everyone', () => {
  before(() => required('everyone'));
  after(() => required('approvers'));

  test('a session without a second factor sees nothing of the organization, but itself and the set-up', async () => {
    const as = of.admin.session;
    for (const path of ['/api/organization', '/api/consents', '/api/mailboxes', '/api/organization/events/stream'])
      assert.equal(errorCode(await world.call('GET', path, { as })), 'second_factor_required', path);
    const current = await world.call('GET', '/api/sessions/current', { as });
    assert.equal(textAt(current.body, 'organizations', 0, 'secondFactor'), 'everyone');
    assert.equal((await world.call('GET', '/api/sessions/current/second-factor', { as })).status, 200);
    assert.equal((await world.call('GET', '/api/organization', { as: of.owner.session })).status, 200);
  });

  test('a link of a notice shows nothing', async () => {
    const as = await approvalLink(world, of, await holdMessage(world, of));
    assert.equal(errorCode(await world.call('GET', '/api/approval', { as })), 'second_factor_required');
  });
});
