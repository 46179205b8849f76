/** A way to each error that a route declares as its own, by `<operationId> <code>`. Rows of other organizations apart. */
import assert from 'node:assert/strict';
import { newId } from '#core/platform/new-id.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { type ApiWorld, errorCode } from '#test/support/api-world.ts';
import { accountCases } from './of-accounts.ts';
import { aliasCases } from './of-aliases.ts';
import { approvalCases } from './of-approvals.ts';
import { fileCases } from './of-files.ts';
import { draftCases, sendCases } from './of-sending.ts';
import { webhookCases } from './of-webhooks.ts';
import { brake, created, ownMail, ownMessage, type Reach } from './reach.ts';

const listCases: Readonly<Record<string, Reach>> = Object.fromEntries(
  ['inbound', 'outbound'].flatMap((direction) =>
    ['allow', 'block'].flatMap((action) => {
      const name = [direction, action].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
      const add = (world: ApiWorld, body: object) =>
        world.call('POST', `/api/lists/${direction}/${action}`, { as: world.organization.owner.session, body });
      return [
        [
          `add${name} conflict`,
          async (world: ApiWorld) => {
            await add(world, { value: 'twice.example' });
            return add(world, { value: 'Twice.example' });
          },
        ],
        [
          `add${name} not_found`,
          (world: ApiWorld) => add(world, { value: 'a.example', mailboxId: world.other.mailbox.id }),
        ],
      ];
    }),
  ),
);

export const errorCases: Readonly<Record<string, Reach>> = {
  ...aliasCases,
  async 'updateDomain conflict'(world) {
    const id = await created(world, '/api/domains', world.organization, { name: 'unverified.example' });
    const body = { catchAllMailboxId: world.organization.mailbox.id };
    return world.call('PATCH', `/api/domains/${id}`, { as: world.organization.key, body });
  },
  'createMailbox invalid_local_part': (world) =>
    world.call('POST', '/api/mailboxes', { as: world.organization.key, body: { localPart: 'postmaster' } }),
  async 'sendTestMail conflict'(world) {
    const mailbox = await world.newMailbox(world.organization);
    await world.call('PATCH', `/api/mailboxes/${mailbox.id}`, {
      as: world.organization.key,
      body: { status: 'suspended' },
    });
    return world.call('POST', `/api/mailboxes/${mailbox.id}/test-mail`, { as: world.organization.member.session });
  },
  async 'sendTestMail rate_limited'(world) {
    const { id } = world.organization.mailbox;
    await world.sql(`insert into rate_limits (key, used, resets_at_ms) values ($1, 1000, $2)`, [
      `test-mail:${id}`,
      Date.now() + 3_600_000,
    ]);
    return world.call('POST', `/api/mailboxes/${id}/test-mail`, { as: world.organization.member.session });
  },
  async 'openReceiver plan_required'(world) {
    const organization = await world.newOrganization('free');
    return world.call('POST', '/api/receiver', { as: organization.key });
  },
  'createMailbox conflict': (world) =>
    world.call('POST', '/api/mailboxes', {
      as: world.other.key,
      body: { localPart: world.organization.mailbox.address.split('@')[0] },
    }),
  async 'createMailbox plan_limit_reached'(world) {
    const organization = await world.newOrganization('free');
    for (let count = 1; count < (PLANS.free.maxMailboxes ?? 0); count++) await world.newMailbox(organization);
    return world.call('POST', '/api/mailboxes', { as: organization.key });
  },
  async 'updateMailbox forbidden'(world) {
    const mailbox = await world.newMailbox(world.organization);
    await brake(world, mailbox, 'stopped');
    const loosen = { as: world.organization.key, body: { sendingMode: 'normal' } };
    return world.call('PATCH', `/api/mailboxes/${mailbox.id}`, loosen);
  },
  async 'updateMailbox conflict'(world) {
    const { organization } = world;
    await created(world, '/api/domains', organization, { name: 'pending.example' });
    const id = await created(world, '/api/mailboxes', organization, { domain: 'pending.example' });
    return world.call('PATCH', `/api/mailboxes/${id}`, { as: organization.key, body: { status: 'active' } });
  },
  async 'createDomain conflict'(world) {
    await created(world, '/api/domains', world.organization, { name: 'twice.example' });
    return world.call('POST', '/api/domains', { as: world.organization.key, body: { name: 'Twice.example.' } });
  },
  async 'deleteDomain conflict'(world) {
    const id = await created(world, '/api/domains', world.organization, { name: 'used.example' });
    await created(world, '/api/mailboxes', world.organization, { domain: 'used.example' });
    return world.call('DELETE', `/api/domains/${id}`, { as: world.organization.key });
  },
  async 'verifyDomain conflict'(world) {
    const id = await created(world, '/api/domains', world.organization, { name: 'contested.example' });
    const otherId = await created(world, '/api/domains', world.other, { name: 'contested.example' });
    await world.sql(`update domains set status = 'verified' where id = $1`, [otherId]);
    const [row] = await world.sql(`select records from domains where id = $1`, [id]);
    world.dns.records = row?.['records'] as typeof world.dns.records;
    return world.call('POST', `/api/domains/${id}/verify`, { as: world.organization.key });
  },
  'getMessage not_found': ownMessage(''),
  'updateMessage not_found': ownMessage('', 'PATCH', { seen: true }),
  'deleteMessage not_found': ownMessage('', 'DELETE'),
  'withdrawMessage not_found': (world) =>
    world.call('DELETE', `/api/mailbox/outbox/${newId('message')}`, {
      as: world.organization.mailbox.token,
    }),
  'withdrawMessage conflict': async (world) => {
    const { mailbox, messageId } = await ownMail(world);
    return world.call('DELETE', `/api/mailbox/outbox/${messageId}`, { as: mailbox.token });
  },
  'withdrawMailboxMessage conflict': async (world) => {
    const { mailbox, messageId } = await ownMail(world);
    return world.call('DELETE', `/api/mailboxes/${mailbox.id}/outbox/${messageId}`, {
      as: world.organization.key,
    });
  },
  'getThread not_found': (world) =>
    world.call('GET', `/api/mailbox/threads/${newId('thread')}`, { as: world.organization.mailbox.token }),
  ...accountCases,
  ...approvalCases,
  ...webhookCases,
  ...sendCases,
  ...draftCases,
  ...fileCases,
  ...listCases,
  'testLists not_found': (world) =>
    world.call('POST', '/api/lists/test', {
      as: world.organization.key,
      body: { direction: 'inbound', address: 'a@b.example', mailboxId: world.other.mailbox.id },
    }),
  'getMessageStatus not_found': ownMessage('/status'),
  'getMessageExtracts not_found': ownMessage('/extracts'),
  'getMessageRaw not_found': ownMessage('/raw'),
  'getMessageAttachment not_found': ownMessage('/attachments/1'),
  async 'createDomain plan_limit_reached'(world) {
    const organization = await world.newOrganization('free');
    const create = (name: string) =>
      world.call('POST', '/api/domains', { as: organization.owner.session, body: { name } });
    assert.equal((await create('one.example')).status, 201);
    assert.equal(errorCode(await create('one.example')), 'conflict');
    return create('two.example');
  },
};
