/**
 * What limited tokens of a mailbox can do at most: one that only sends reads nothing, not even by sending it to itself,
 * and one that only reads sends nothing. By the protocols of mail clients: `test/mail/listeners/token-access.test.ts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AuthRule, type Route, tokenNeedOf } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { type TokenAccess, tokenAllows } from '#domain/organizations/mailboxes.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  detailPaths,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';
import { givenTokens } from '#test/support/oauth-host.ts';
import { unknownId } from '#test/support/schema-samples.ts';

const SECRET = 'Words-for-those-who-read';
const HIDDEN = 'hidden-copy@customer.example';

let world: ApiWorld;
let box: TestMailbox;
/** A received message with an attachment. */
let message: { readonly id: string; readonly attachmentId: string };
let tokens: Readonly<Record<TokenAccess, string>>;
before(async () => {
  world = await apiWorld();
  const { mailbox } = world.organization;
  box = await world.newMailbox(world.organization);
  const attachments = [{ contentBase64: Buffer.from(SECRET).toString('base64'), contentType: 'text/plain' }];
  const body = { to: [box.address], subject: SECRET, text: SECRET, attachments };
  sent(await world.call('POST', '/api/mailbox/messages', { as: mailbox.token, body }));
  const listed = await world.call('GET', '/api/mailbox/messages', { as: box.token });
  const id = textAt(listed.body, 'data', 0, 'id');
  const shown = await world.call('GET', `/api/mailbox/messages/${id}`, { as: box.token });
  message = { id, attachmentId: textAt(shown.body, 'attachments', 0, 'id') };
  tokens = { full: await newToken('full'), read: await newToken('read'), send: await newToken('send') };
});
after(() => world?.close());

async function newToken(access: TokenAccess): Promise<string> {
  const made = await world.call('POST', `/api/mailboxes/${box.id}/tokens`, {
    as: world.organization.key,
    body: { name: access, access },
  });
  return textAt(made.body, 'token');
}

function sent(answer: Answer): string {
  assert.ok([201, 202].includes(answer.status), answer.text);
  return textAt(answer.body, 'id');
}

const as = (access: TokenAccess) => asBearer(tokens[access]);
const call = (access: TokenAccess, method: string, path: string, body?: object, headers = {}) =>
  world.call(method, path, { as: as(access), headers, ...(body === undefined ? {} : { body }) });

function refused(answer: Answer, what: string): void {
  assert.deepEqual([answer.status, errorCode(answer)], [403, 'insufficient_scope'], `${what}: ${answer.text}`);
  assert.ok(!answer.text.includes(SECRET) && !answer.text.includes(HIDDEN), what);
}

const letter = (more: object = {}) => ({ to: [box.address], subject: 'Hello', text: 'x', ...more });

describe('by routes', () => {
  const isForMailboxTokens = (auth: AuthRule): boolean =>
    auth === 'mailbox_token' || (typeof auth === 'object' && 'scope' in auth && auth.mailboxToken === true);
  const ofTokens = routes.filter(({ auth }) => isForMailboxTokens(auth));

  const propertiesOf = (schema: unknown): object => Object(Reflect.get(Object(schema ?? {}), 'properties') ?? {});
  const pathOf = ({ path, params }: Route): string =>
    path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) =>
      name === 'id' ? box.id : unknownId(Reflect.get(propertiesOf(params), name)),
    );

  const namesFor = (access: TokenAccess): string[] =>
    ofTokens.filter((route) => tokenAllows(access, tokenNeedOf(route))).map(({ operationId }) => operationId);

  test('a token that only sends has the routes of sending, of files to attach, and what its mailbox is', () => {
    assert.deepEqual(namesFor('send').toSorted(), [
      'createMailboxUpload',
      'createUpload',
      'getMailbox',
      'getMailboxConnection',
      'getMailboxMessageStatus',
      'getMessageStatus',
      'getOwnMailbox',
      'getOwnMailboxConnection',
      'listMailboxSnippets',
      'sendMailboxMessage',
      'sendMessage',
      'uploadFile',
      'uploadMailboxFile',
    ]);
  });

  test('a token that only reads has no route that is not a GET', () => {
    const changing = ofTokens.filter(({ method }) => method !== 'GET').map(({ operationId }) => operationId);
    assert.deepEqual(
      namesFor('read').filter((name) => changing.includes(name)),
      [],
    );
  });

  for (const access of ['read', 'send'] as const)
    test(`every other route refuses the token, before it looks at the request: ${access}`, async () => {
      const allowed = new Set(namesFor(access));
      const others = ofTokens.filter(({ operationId }) => !allowed.has(operationId));
      assert.ok(others.length > 20);
      for (const route of others)
        refused(await call(access, route.method, pathOf(route), route.bodyExample), route.operationId);
    });
});

describe('a token that only sends', () => {
  test('attaches nothing that is stored, by either path', async () => {
    const attachments = [{ messageId: message.id, attachmentId: message.attachmentId }];
    for (const path of ['/api/mailbox/messages', `/api/mailboxes/${box.id}/messages`]) {
      const answer = await call('send', 'POST', path, letter({ attachments }));
      refused(answer, path);
      assert.deepEqual(detailPaths(answer), ['/attachments/0/messageId']);
    }
    // Not as the second one, and not with the client id of a message that had it.
    const own = { contentBase64: 'eA==', contentType: 'text/plain' };
    refused(
      await call('send', 'POST', '/api/mailbox/messages', letter({ attachments: [own, ...attachments] })),
      'second',
    );
    const clientId = 'attached-before';
    sent(await call('full', 'POST', '/api/mailbox/messages', letter({ attachments, clientId })));
    refused(await call('send', 'POST', '/api/mailbox/messages', letter({ attachments, clientId })), 'repeated');
  });

  test('answers, forwards and drafts nothing', async () => {
    const draft = await call('full', 'POST', '/api/mailbox/drafts', { inReplyTo: message.id, text: 'x' });
    const draftId = textAt(draft.body, 'id');
    for (const base of ['/api/mailbox', `/api/mailboxes/${box.id}`])
      for (const [method, path, body] of [
        ['POST', `/messages/${message.id}/reply`, { text: 'x' }],
        ['POST', `/messages/${message.id}/reply-all`, { text: 'x' }],
        ['POST', `/messages/${message.id}/forward`, letter()],
        ['POST', '/drafts', { inReplyTo: message.id }],
        ['PATCH', `/drafts/${draftId}`, { to: [box.address] }],
        ['POST', `/drafts/${draftId}/send`, {}],
        ['GET', `/drafts/${draftId}`, undefined],
      ] as const)
        refused(await call('send', method, base + path, body), `${method} ${path}`);
    assert.equal((await call('full', 'GET', `/api/mailbox/drafts/${draftId}`)).status, 200);
  });

  test('is not answered what another token sent under the same client id; its own is repeated', async () => {
    const clientId = 'order-4711';
    const first = letter({ to: ['ada@customer.example'], bcc: [HIDDEN], subject: SECRET, clientId });
    const id = sent(await call('full', 'POST', '/api/mailbox/messages', first));
    const attachments = [{ url: 'https://files.example/none' }];
    // Also the right content is another message: otherwise it could be found out by trying.
    for (const [body, code] of [
      [letter({ clientId }), 'conflict'],
      [letter({ clientId, attachments }), 'invalid_request'],
      [first, 'conflict'],
      [{ ...first, subject: 'Guessed' }, 'conflict'],
    ] as const)
      for (const base of ['/api/mailbox', `/api/mailboxes/${box.id}`]) {
        const answer = await call('send', 'POST', `${base}/messages`, body);
        assert.equal(errorCode(answer), code, answer.text);
        for (const secret of [id, SECRET, HIDDEN]) assert.ok(!answer.text.includes(secret), answer.text);
      }
    const own = letter({ to: ['Ada <ADA@customer.example>'], cc: ['jo@bücher.example'], clientId: 'own' });
    const [one, again] = [
      await call('send', 'POST', '/api/mailbox/messages', own),
      await call('send', 'POST', '/api/mailbox/messages', own),
    ];
    assert.deepEqual([again.status, at(again.body, 'id')], [200, sent(one)]);
  });

  test('attaches its own files, and none of another mailbox; an upload URL reads nothing', async () => {
    const { mailbox } = world.organization;
    const upload = async (credential: Readonly<Record<string, string>>, content: string) => {
      const answer = await fetch(new URL('/api/mailbox/files', world.api.url), {
        method: 'POST',
        headers: { ...credential, 'content-type': 'text/plain' },
        body: content,
      });
      return textAt(await answer.json(), 'id');
    };
    const foreign = await upload(mailbox.token, SECRET);
    const answer = await call('send', 'POST', '/api/mailbox/messages', letter({ attachments: [{ fileId: foreign }] }));
    assert.deepEqual([errorCode(answer), detailPaths(answer)], ['invalid_request', ['/attachments/0/fileId']]);
    const own = await upload(as('send'), 'mine');
    sent(await call('send', 'POST', '/api/mailbox/messages', letter({ attachments: [{ fileId: own }] })));
    const ofFull = await upload(as('full'), SECRET);
    refused(await call('send', 'GET', '/api/mailbox/files'), 'files');
    for (const method of ['GET', 'DELETE']) refused(await call('send', method, `/api/mailbox/files/${ofFull}`), method);
    // A file that somebody is about to upload is not given away by a guessed Idempotency-Key.
    const key = { 'idempotency-key': 'report' };
    const body = { filename: 'report.txt' };
    const [theirs, mine] = [
      await call('full', 'POST', '/api/mailbox/files/uploads', body, key),
      await call('send', 'POST', '/api/mailbox/files/uploads', body, key),
    ];
    assert.notEqual(textAt(mine.body, 'fileId'), textAt(theirs.body, 'fileId'));
    assert.equal(mine.headers.get('idempotent-replayed'), null);
    const again = await call('send', 'POST', '/api/mailbox/files/uploads', body, key);
    assert.equal(textAt(again.body, 'fileId'), textAt(mine.body, 'fileId'));
    const url = textAt(mine.body, 'url');
    await fetch(url, { method: 'PUT', body: SECRET });
    const read = await fetch(url);
    assert.ok(read.status >= 400 && !(await read.text()).includes(SECRET));
  });
});

describe('a token that only reads', () => {
  test('sends no draft, changes no scheduled message and withdraws none', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const draft = await call('full', 'POST', '/api/mailbox/drafts', letter({ sendAt }));
    const scheduled = sent(await call('full', 'POST', '/api/mailbox/messages', letter({ sendAt })));
    for (const base of ['/api/mailbox', `/api/mailboxes/${box.id}`])
      for (const [method, path, body] of [
        ['POST', `/drafts/${textAt(draft.body, 'id')}/send`, {}],
        ['PATCH', `/drafts/${textAt(draft.body, 'id')}`, { sendAt: null }],
        ['POST', '/drafts', letter({ sendAt })],
        ['DELETE', `/outbox/${scheduled}`, undefined],
        ['POST', '/messages', letter()],
        ['POST', '/files/uploads', { filename: 'x.txt' }],
      ] as const)
        refused(await call('read', method, base + path, body), `${method} ${path}`);
    const status = await call('read', 'GET', `/api/mailbox/messages/${scheduled}/status`);
    assert.equal(at(status.body, 'status'), 'scheduled');
  });
});

describe('by MCP', () => {
  const mcp = async (credential: Readonly<Record<string, string>>, name: string, input: object): Promise<string> => {
    const answer = await world.call('POST', '/mcp', {
      as: credential,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  const REFUSED = /"isError":true|"error":/;

  test('a token or a program that only sends reads nothing', async () => {
    const { accessToken } = await givenTokens(world, world.organization.member.session, box.id, 'send');
    const attachments = [{ messageId: message.id, attachmentId: message.attachmentId }];
    for (const credential of [as('send'), asBearer(accessToken)]) {
      for (const [name, input] of [
        ['read_message', { messageId: message.id }],
        ['list_messages', {}],
        ['list_outbox', {}],
        ['reply_to_message', { messageId: message.id, text: 'x' }],
        ['forward_message', { messageId: message.id, to: [box.address] }],
        ['send_message', letter({ attachments })],
      ] as const) {
        const answer = await mcp(credential, name, input);
        assert.match(answer, REFUSED, name);
        assert.ok(!answer.includes(SECRET), name);
      }
      assert.doesNotMatch(await mcp(credential, 'send_message', letter()), REFUSED);
    }
  });

  test('a token or a program that only reads sends nothing', async () => {
    const { accessToken } = await givenTokens(world, world.organization.member.session, box.id, 'read');
    const count = async () =>
      (await world.sql(`select id from outbound_message where mailbox_id = $1`, [box.id])).length;
    const before = await count();
    for (const credential of [as('read'), asBearer(accessToken)]) {
      for (const [name, input] of [
        ['send_message', letter()],
        ['reply_to_message', { messageId: message.id, text: 'x' }],
        ['forward_message', { messageId: message.id, to: [box.address] }],
        ['create_upload', { filename: 'x.txt' }],
        ['withdraw', { messageId: message.id }],
      ] as const)
        assert.match(await mcp(credential, name, input), REFUSED, name);
      assert.doesNotMatch(await mcp(credential, 'read_message', { messageId: message.id }), REFUSED);
    }
    assert.equal(await count(), before);
  });
});
