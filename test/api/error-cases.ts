/** A way to each error that a route declares as its own, by `<operationId> <code>`. Rows of other organizations apart. */
import assert from 'node:assert/strict';
import { startApi } from '../../api/start.ts';
import { newId } from '../../core/new-id.ts';
import { connectTemporal } from '../../core/temporal-client.ts';
import { SIGN_IN_TRIES } from '../../domain/credential-format.ts';
import { API_KEYS_MAX } from '../../domain/organization-limits.ts';
import { PLANS } from '../../domain/plans.ts';
import {
  type Answer,
  type ApiWorld,
  type Credential,
  errorCode,
  TEST_PASSWORD,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '../support/api-world.ts';
import { waitUntil } from '../support/wait-until.ts';

type Reach = (world: ApiWorld) => Promise<Answer>;

async function created(world: ApiWorld, path: string, organization: TestOrganization, body: unknown): Promise<string> {
  const answer = await world.call('POST', path, { as: organization.owner.session, body });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

const endpoint = (world: ApiWorld, organization: TestOrganization, more: object = {}) =>
  created(world, '/api/webhooks', organization, {
    url: 'https://127.0.0.1/hook',
    eventTypes: ['email_received'],
    ...more,
  });

const createWebhook =
  (more: object, of: (world: ApiWorld) => TestOrganization = (world) => world.organization): Reach =>
  (world) =>
    world.call('POST', '/api/webhooks', {
      as: of(world).key,
      body: { url: 'https://127.0.0.1/hook', eventTypes: ['email_received'], ...more },
    });

const changeWebhook =
  (change: object, more: (world: ApiWorld) => object = () => ({})): Reach =>
  async (world) => {
    const id = await endpoint(world, world.organization, more(world));
    return world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: change });
  };

/** An endpoint made while the plan allowed it. */
async function downgraded(world: ApiWorld): Promise<{ organization: TestOrganization; endpointId: string }> {
  const organization = await world.newOrganization('team');
  const endpointId = await endpoint(world, organization);
  const moved = await world.call('PUT', '/api/organization/plan', {
    as: { ...world.operator, 'x-organization-id': organization.id },
    body: { plan: 'free' },
  });
  assert.equal(moved.status, 200, moved.text);
  return { organization, endpointId };
}

const recover = (world: ApiWorld, organization: TestOrganization, endpointId: string): Promise<Answer> =>
  world.call('POST', `/api/webhooks/${endpointId}/recover`, {
    as: organization.key,
    body: { since: '2026-01-01T00:00:00.000Z' },
  });

/** A recovery that was stopped because its endpoint was set inactive. */
const moveEnded =
  (verb: string): Reach =>
  async (world) => {
    const id = await endpoint(world, world.organization);
    const recovery = textAt((await recover(world, world.organization, id)).body, 'id');
    await world.sql(
      `update recoveries set state = 'stopped', stop_reason = 'endpoint_inactive', finished_at = now() where id = $1`,
      [recovery],
    );
    return world.call('POST', `/api/webhooks/${id}/recoveries/${recovery}/${verb}`, { as: world.organization.key });
  };

async function testDelivery(world: ApiWorld, organization: TestOrganization, endpointId: string): Promise<string> {
  const answer = await world.call('POST', `/api/webhooks/${endpointId}/test`, { as: organization.key, body: {} });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'id');
}

async function tryPasswords(tries: number, once: (number: number) => Promise<Answer>): Promise<Answer> {
  let last = await once(0);
  for (let number = 1; number < tries; number++) last = await once(number);
  return last;
}

/** An invitation for a person who has an account already. */
async function invitedAccount(world: ApiWorld): Promise<string> {
  const person = await world.newPerson(world.other.id, 'member');
  const answer = await world.call('POST', '/api/members', {
    as: world.organization.owner.session,
    body: { email: person.email },
  });
  return textAt(answer.body, 'token');
}

const ownMessage =
  (rest: string, method = 'GET', body?: unknown): Reach =>
  (world) =>
    world.call(method, `/api/mailbox/messages/${newId('message')}${rest}`, {
      as: world.organization.mailbox.token,
      ...(body === undefined ? {} : { body }),
    });

/** A message in the INBOX of a new mailbox, which wrote it to itself. */
async function ownMail(world: ApiWorld): Promise<{ mailbox: TestMailbox; messageId: string }> {
  const mailbox = await world.newMailbox(world.organization);
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [mailbox.address], subject: 'To myself', text: 'x' },
  });
  assert.equal(sent.status, 201, sent.text);
  return { mailbox, messageId: textAt(sent.body, 'id') };
}

/** Every way to send, once with a blocked recipient, once from a full mailbox, once about a message that is not there. */
const sendCases: Readonly<Record<string, Reach>> = Object.fromEntries(
  [
    { own: 'sendMessage', other: 'sendMailboxMessage', verb: undefined },
    { own: 'replyToMessage', other: 'replyToMailboxMessage', verb: 'reply' },
    { own: 'replyToAllOfMessage', other: 'replyToAllOfMailboxMessage', verb: 'reply-all' },
    { own: 'forwardMessage', other: 'forwardMailboxMessage', verb: 'forward' },
  ].flatMap(({ own, other, verb }) => {
    const bodyTo = (address: string) => ({ cc: [address], text: 'x', ...(verb === undefined ? { subject: 's' } : {}) });
    const path = (base: string, id: string) => `${base}/messages${verb === undefined ? '' : `/${id}/${verb}`}`;
    const cases = (operation: string, base: (id: string) => string, as: (mailbox: TestMailbox) => Credential) => [
      [
        `${operation} recipient_blocked`,
        async (world: ApiWorld) => {
          const { mailbox, messageId } = await ownMail(world);
          await world.call('POST', '/api/lists/outbound/block', {
            as: world.organization.owner.session,
            body: { value: 'blocked.example' },
          });
          const body = bodyTo('x@blocked.example');
          return world.call('POST', path(base(mailbox.id), messageId), { as: as(mailbox), body });
        },
      ],
      [
        `${operation} quota_exceeded`,
        async (world: ApiWorld) => {
          const { mailbox, messageId } = await ownMail(world);
          await world.sql(`update mailbox_counter set quota_bytes = bytes_used where mailbox_id = $1`, [mailbox.id]);
          const body = bodyTo(mailbox.address);
          return world.call('POST', path(base(mailbox.id), messageId), { as: as(mailbox), body });
        },
      ],
    ];
    return [
      ...cases(
        own,
        () => '/api/mailbox',
        ({ token }) => token,
      ),
      ...cases(
        other,
        (id) => `/api/mailboxes/${id}`,
        ({ token }) => token,
      ),
      ...(verb === undefined ? [] : [[`${own} not_found`, ownMessage(`/${verb}`, 'POST', bodyTo('x@example.com'))]]),
    ];
  }),
);

const WAITING_FOR_A_LOCK = `
  select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Every step with a draft that fails, at both of its paths. */
const draftCases: Readonly<Record<string, Reach>> = Object.fromEntries(
  [
    { name: '', base: () => '/api/mailbox', as: ({ token }: TestMailbox) => token },
    { name: 'Mailbox', base: (id: string) => `/api/mailboxes/${id}`, as: ({ token }: TestMailbox) => token },
  ].flatMap(({ name, base, as }): [string, Reach][] => {
    const draftOf = async (world: ApiWorld, body: object) => {
      const mailbox = await world.newMailbox(world.organization);
      const path = `${base(mailbox.id)}/drafts`;
      const answer = await world.call('POST', path, { as: as(mailbox), body });
      assert.equal(answer.status, 201, answer.text);
      return { mailbox, path, own: `${path}/${textAt(answer.body, 'id')}`, as: as(mailbox) };
    };
    const full = async (world: ApiWorld, body: object = {}) => {
      const draft = await draftOf(world, body);
      await world.sql(`update mailbox_counter set quota_bytes = 1 where mailbox_id = $1`, [draft.mailbox.id]);
      return draft;
    };
    /** The draft goes while a request about it waits for the lock of its folder. */
    const meanwhile = async (world: ApiWorld, method: string, rest: string, body: object) => {
      const { mailbox, own, as: credential } = await draftOf(world, { to: ['a@example.com'], subject: 's' });
      let answer: Promise<Answer> | undefined;
      await world.services.db.transaction(async (sql) => {
        await sql.query(`select from folder where mailbox_id = $1 for update`, [mailbox.id]);
        answer = world.call(method, `${own}${rest}`, { as: credential, body });
        await waitUntil('the request to wait', async () => (await world.sql(WAITING_FOR_A_LOCK)).length > 0);
        await sql.query(
          `delete from placement p using folder f where f.id = p.folder_id and f.mailbox_id = $1 and f.special_use = '\\Drafts'`,
          [mailbox.id],
        );
      });
      return answer ?? assert.fail();
    };
    const missing =
      (method: string, rest = ''): Reach =>
      (world) =>
        world.call(method, `/api/mailbox/drafts/${newId('draft')}${rest}`, {
          as: world.organization.mailbox.token,
          ...(method === 'PATCH' ? { body: { subject: 's' } } : method === 'POST' ? { body: {} } : {}),
        });
    const body = { to: ['a@blocked.example'], subject: 's', text: 'x' };
    return [
      ...(name === ''
        ? [
            ['getDraft not_found', missing('GET')] as [string, Reach],
            ['updateDraft not_found', missing('PATCH')] as [string, Reach],
            ['deleteDraft not_found', missing('DELETE')] as [string, Reach],
            ['sendDraft not_found', missing('POST', '/send')] as [string, Reach],
          ]
        : []),
      [
        `create${name}Draft quota_exceeded`,
        async (world) => {
          const { path, as: credential } = await full(world);
          return world.call('POST', path, { as: credential, body });
        },
      ],
      [
        `update${name}Draft quota_exceeded`,
        async (world) => {
          const { own, as: credential } = await full(world);
          return world.call('PATCH', own, { as: credential, body });
        },
      ],
      [`update${name}Draft conflict`, (world) => meanwhile(world, 'PATCH', '', { subject: 'x' })],
      [`send${name}Draft conflict`, (world) => meanwhile(world, 'POST', '/send', {})],
      [
        `send${name}Draft quota_exceeded`,
        async (world) => {
          const { mailbox, own, as: credential } = await draftOf(world, { subject: 's' });
          await world.call('PATCH', own, { as: credential, body: { to: [mailbox.address] } });
          await world.sql(`update mailbox_counter set quota_bytes = 1 where mailbox_id = $1`, [mailbox.id]);
          return world.call('POST', `${own}/send`, { as: credential, body: {} });
        },
      ],
      [
        `send${name}Draft recipient_blocked`,
        async (world) => {
          await world.call('POST', '/api/lists/outbound/block', {
            as: world.organization.owner.session,
            body: { value: 'blocked.example' },
          });
          const { own, as: credential } = await draftOf(world, body);
          return world.call('POST', `${own}/send`, { as: credential, body: {} });
        },
      ],
    ];
  }),
);

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

/** A held message of the organization. @returns id of its consent */
async function heldMessage(world: ApiWorld): Promise<string> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: world.organization.mailbox.token,
    body: { to: [`${newId('request')}@stranger.example`], subject: 'Hello', text: 'x' },
  });
  assert.equal(answer.status, 202, answer.text);
  return textAt(answer.body, 'consentId');
}

const decideTwice =
  (verb: 'approve' | 'deny', body: object): Reach =>
  async (world) => {
    const path = `/api/consents/${await heldMessage(world)}/${verb}`;
    const as = world.organization.owner.session;
    assert.equal((await world.call('POST', path, { as, body })).status, 200);
    return world.call('POST', path, { as, body });
  };

/** Sign-ins from one address are counted together, so each case that fails on purpose comes from its own. */
const from = (address: string) => ({ 'x-forwarded-for': address });

export const errorCases: Readonly<Record<string, Reach>> = {
  'createMailbox invalid_local_part': (world) =>
    world.call('POST', '/api/mailboxes', { as: world.organization.key, body: { localPart: 'postmaster' } }),
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

  'createSession unauthenticated': (world) =>
    world.call('POST', '/api/sessions', {
      body: { email: world.organization.owner.email, password: 'not the password' },
      headers: from('198.51.100.1'),
    }),
  'createSession rate_limited': (world) =>
    tryPasswords(SIGN_IN_TRIES + 1, (number) =>
      world.call('POST', '/api/sessions', {
        body: { email: `nobody-${number}@people.test`, password: 'not the password' },
        headers: from('198.51.100.2'),
      }),
    ),
  'acceptInvitation not_found': (world) =>
    world.call('POST', '/api/invitations/accept', { body: { token: 'unknown', name: 'X', password: TEST_PASSWORD } }),
  'acceptInvitation unauthenticated': async (world) =>
    world.call('POST', '/api/invitations/accept', {
      body: { token: await invitedAccount(world), password: 'not the password' },
      headers: from('198.51.100.3'),
    }),
  async 'acceptInvitation rate_limited'(world) {
    const token = await invitedAccount(world);
    return tryPasswords(SIGN_IN_TRIES + 1, () =>
      world.call('POST', '/api/invitations/accept', {
        body: { token, password: 'not the password' },
        headers: from('198.51.100.4'),
      }),
    );
  },

  'changePassword unauthenticated': (world) =>
    world.call('PUT', '/api/sessions/current/password', {
      as: world.organization.member.session,
      body: { currentPassword: 'not the password', newPassword: TEST_PASSWORD },
      headers: from('198.51.100.5'),
    }),
  async 'changePassword rate_limited'(world) {
    const { session } = await world.newPerson(world.organization.id, 'member');
    return tryPasswords(SIGN_IN_TRIES + 1, () =>
      world.call('PUT', '/api/sessions/current/password', {
        as: session,
        body: { currentPassword: 'not the password', newPassword: TEST_PASSWORD },
        headers: from('198.51.100.6'),
      }),
    );
  },
  'createOrganization conflict': (world) =>
    world.call('POST', '/api/organizations', {
      as: world.operator,
      body: { name: 'Another', slug: world.organization.slug, ownerEmail: 'owner@people.test' },
    }),
  'updateOrganization conflict': (world) =>
    world.call('PATCH', '/api/organization', {
      as: world.organization.owner.session,
      body: { slug: world.other.slug },
    }),
  'inviteMember conflict': (world) =>
    world.call('POST', '/api/members', {
      as: world.organization.owner.session,
      body: { email: world.organization.member.email },
    }),
  async 'changeMemberRole conflict'(world) {
    const { owner } = await world.newOrganization('team');
    return world.call('PATCH', `/api/members/${owner.memberId}`, { as: owner.session, body: { role: 'admin' } });
  },
  async 'removeMember conflict'(world) {
    const { owner } = await world.newOrganization('team');
    return world.call('DELETE', `/api/members/${owner.memberId}`, { as: owner.session });
  },

  'getMessage not_found': ownMessage(''),
  'updateMessage not_found': ownMessage('', 'PATCH', { seen: true }),
  'deleteMessage not_found': ownMessage('', 'DELETE'),
  'getThread not_found': (world) =>
    world.call('GET', `/api/mailbox/threads/${newId('thread')}`, { as: world.organization.mailbox.token }),
  ...sendCases,
  ...draftCases,
  ...listCases,
  'approveConsent conflict': decideTwice('approve', { scope: 'message' }),
  'denyConsent conflict': decideTwice('deny', {}),
  'testLists not_found': (world) =>
    world.call('POST', '/api/lists/test', {
      as: world.organization.key,
      body: { direction: 'inbound', address: 'a@b.example', mailboxId: world.other.mailbox.id },
    }),
  'getMessageStatus not_found': ownMessage('/status'),
  'getMessageRaw not_found': ownMessage('/raw'),
  'getMessageAttachment not_found': ownMessage('/attachments/1'),

  async 'createWebhook plan_required'(world) {
    const organization = await world.newOrganization('free');
    return createWebhook({}, () => organization)(world);
  },
  async 'createWebhook plan_limit_reached'(world) {
    const organization = await world.newOrganization('team');
    for (let count = 0; count < (PLANS.team.maxWebhookEndpoints ?? 0); count++) await endpoint(world, organization);
    return createWebhook({}, () => organization)(world);
  },
  'createWebhook not_found': (world) => createWebhook({ mailboxId: world.other.mailbox.id })(world),
  'createWebhook invalid_url': createWebhook({ url: 'http://example.com/' }),
  'createWebhook unresolvable_destination': createWebhook({ url: 'https://no-such-host.invalid/' }),
  'createWebhook unsafe_destination': createWebhook({ url: 'https://10.0.0.1/' }),
  'createWebhook invalid_event_types': createWebhook({ eventTypes: ['no_such_event'] }),
  'createWebhook event_type_not_allowed_for_mailbox': (world) =>
    createWebhook({ mailboxId: world.organization.mailbox.id, eventTypes: ['mailbox_created'] })(world),
  'createWebhook invalid_auth_header': createWebhook({ authHeader: { name: 'Host', value: 'x' } }),

  async 'updateWebhook conflict'(world) {
    const id = await endpoint(world, world.organization);
    await world.sql(`update webhook_endpoints set active = false, disabled_reason = 'suspended' where id = $1`, [id]);
    return world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: { active: true } });
  },
  'updateWebhook immutable_field': changeWebhook({ mailboxId: null }),
  'updateWebhook invalid_url': changeWebhook({ url: 'https://user:password@example.com/' }),
  'updateWebhook unresolvable_destination': changeWebhook({ url: 'https://no-such-host.invalid/' }),
  'updateWebhook unsafe_destination': changeWebhook({ url: 'https://[fd00::1]/' }),
  'updateWebhook invalid_event_types': changeWebhook({ eventTypes: [] }),
  'updateWebhook event_type_not_allowed_for_mailbox': changeWebhook({ eventTypes: ['mailbox_created'] }, (world) => ({
    mailboxId: world.organization.mailbox.id,
  })),
  'updateWebhook invalid_auth_header': changeWebhook({ authHeader: { name: 'webhook-id', value: 'x' } }),

  async 'testWebhook plan_required'(world) {
    const { organization, endpointId } = await downgraded(world);
    return world.call('POST', `/api/webhooks/${endpointId}/test`, { as: organization.key, body: {} });
  },
  async 'testWebhook conflict'(world) {
    const id = await endpoint(world, world.organization);
    await world.call('PATCH', `/api/webhooks/${id}`, { as: world.organization.key, body: { active: false } });
    return world.call('POST', `/api/webhooks/${id}/test`, { as: world.organization.key, body: {} });
  },
  async 'testWebhook event_type_not_allowed_for_mailbox'(world) {
    const id = await endpoint(world, world.organization, { mailboxId: world.organization.mailbox.id });
    const body = { eventType: 'mailbox_created' };
    return world.call('POST', `/api/webhooks/${id}/test`, { as: world.organization.key, body });
  },

  async 'createKey conflict'(world) {
    const organization = await world.newOrganization('team');
    await world.sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes)
       select 'key_' || $1 || n, $1, 'test', sha256(($1 || n)::bytea), '', '{org:read}' from generate_series(2, $2::int) n`,
      [organization.id, API_KEYS_MAX],
    );
    const body = { name: 'one more', scopes: ['org:read'] };
    return world.call('POST', '/api/keys', { as: organization.owner.session, body });
  },
  async 'createDomain plan_limit_reached'(world) {
    const organization = await world.newOrganization('free');
    const create = (name: string) =>
      world.call('POST', '/api/domains', { as: organization.owner.session, body: { name } });
    assert.equal((await create('one.example')).status, 201);
    assert.equal(errorCode(await create('one.example')), 'conflict');
    return create('two.example');
  },
  async 'recoverDeliveries plan_required'(world) {
    const { organization, endpointId } = await downgraded(world);
    return recover(world, organization, endpointId);
  },
  async 'recoverDeliveries conflict'(world) {
    const id = await endpoint(world, world.organization);
    const begun = await recover(world, world.organization, id);
    assert.equal(begun.status, 202, begun.text);
    return recover(world, world.organization, id);
  },
  'cancelRecovery conflict': moveEnded('cancel'),
  'pauseRecovery conflict': moveEnded('pause'),
  'resumeRecovery conflict': moveEnded('resume'),

  async 'resendDelivery plan_required'(world) {
    const organization = await world.newOrganization('team');
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    await world.sql(`update organizations set plan = 'free' where id = $1`, [organization.id]);
    return world.call('POST', `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`, { as: organization.key });
  },
  async 'resendDelivery conflict'(world) {
    const { organization } = world;
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    await world.call('PATCH', `/api/webhooks/${endpointId}`, { as: organization.key, body: { active: false } });
    return world.call('POST', `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`, { as: organization.key });
  },
  async 'resendDelivery unavailable'(world) {
    const { organization, services } = world;
    const endpointId = await endpoint(world, organization);
    const deliveryId = await testDelivery(world, organization, endpointId);
    // A delivery that is final needs a workflow for one more attempt.
    await world.sql(
      `update deliveries set status = 'success', attempt_count = 1, completed_at = now(), fan_out_id = 'fan-out/test'
        where id = $1`,
      [deliveryId],
    );
    const away = connectTemporal({ ...services.settings, TEMPORAL_ADDRESS: '127.0.0.1:9' });
    const api = await startApi(services, away);
    try {
      const path = `/api/webhooks/${endpointId}/deliveries/${deliveryId}/resend`;
      return await world.call('POST', `${api.url}${path}`, { as: organization.key });
    } finally {
      await api.close();
      await away.close();
    }
  },
};
