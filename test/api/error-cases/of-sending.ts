/** Errors of sending and of drafts, at every path. */
import assert from 'node:assert/strict';
import { newId } from '#core/platform/new-id.ts';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { type Answer, type ApiWorld, type Credential, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { BRAKES, brake, ownMail, ownMessage, type Reach } from './reach.ts';

/** Every way to send, once with a blocked recipient, once from a full mailbox, once about a message that is not there. */
export const sendCases: Readonly<Record<string, Reach>> = Object.fromEntries(
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
        `${operation} content_refused`,
        async (world: ApiWorld) => {
          const { mailbox, messageId } = await ownMail(world);
          const body = { ...bodyTo(mailbox.address), text: newCredential('apiKey') };
          return world.call('POST', path(base(mailbox.id), messageId), { as: as(mailbox), body });
        },
      ],
      ...BRAKES.map(({ mode, code }) => [
        `${operation} ${code}`,
        async (world: ApiWorld) => {
          const { mailbox, messageId } = await ownMail(world);
          await brake(world, mailbox, mode);
          const body = bodyTo(mailbox.address);
          return world.call('POST', path(base(mailbox.id), messageId), { as: as(mailbox), body });
        },
      ]),
      [
        `${operation} conflict`,
        async (world: ApiWorld) => {
          const { mailbox, messageId } = await ownMail(world);
          const body = { ...bodyTo(mailbox.address), clientId: 'used' };
          const ask = (more: object) =>
            world.call('POST', path(base(mailbox.id), messageId), { as: as(mailbox), body: { ...body, ...more } });
          await ask({});
          return ask({ text: 'y' });
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
export const draftCases: Readonly<Record<string, Reach>> = Object.fromEntries(
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
    /** The draft is removed while a request about it waits for the lock of its folder. */
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
      [
        `create${name}Draft conflict`,
        async (world) => {
          const { path, as: credential } = await draftOf(world, { ...body, clientId: 'used' });
          return world.call('POST', path, { as: credential, body: { ...body, text: 'y', clientId: 'used' } });
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
      ...BRAKES.map(({ mode, code }): [string, Reach] => [
        `send${name}Draft ${code}`,
        async (world) => {
          const { mailbox, own, as: credential } = await draftOf(world, body);
          await brake(world, mailbox, mode);
          return world.call('POST', `${own}/send`, { as: credential, body: {} });
        },
      ]),
      [
        `send${name}Draft content_refused`,
        async (world) => {
          const text = newCredential('apiKey');
          const { own, as: credential } = await draftOf(world, { ...body, to: ['a@elsewhere.example'], text });
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
