/** Groups of mailboxes, API keys that are limited to some of them, and lists over many mailboxes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  asKey,
  at,
  type Credential,
  detailPaths,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { unknownId } from '#test/support/schema-samples.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let organization: TestOrganization;
before(async () => {
  world = await apiWorld();
  ({ organization } = world);
});
after(() => world.close());

interface Box {
  readonly id: string;
  readonly address: string;
  readonly as: Credential;
}

async function newBox(group: string | null, as: Credential = organization.key): Promise<Box> {
  const answer = await world.call('POST', '/api/mailboxes', { as, body: group === null ? {} : { group } });
  assert.equal(answer.status, 201, answer.text);
  const { id, address, token } = { ...(answer.body as { id: string; address: string; token: string }) };
  return { id, address, as: asBearer(token) };
}

/** A message in the INBOX of a mailbox. */
async function deliver(to: Box, subject: string): Promise<string> {
  const body = { to: [to.address], subject, text: `About ${subject}.` };
  const sent = await world.call('POST', '/api/mailbox/messages', { as: organization.mailbox.token, body });
  assert.equal(sent.status, 201, sent.text);
  const listed = await world.call('GET', `/api/mailbox/messages?subject=${encodeURIComponent(subject)}`, { as: to.as });
  return textAt(listed.body, 'data', 0, 'id');
}

const limitedKey = (...groups: string[]) => world.newKey(organization.id, API_SCOPES, null, groups);

const data = (answer: Answer): object[] => {
  const rows = at(answer.body, 'data');
  assert.ok(Array.isArray(rows), answer.text);
  return rows;
};
const idsOf = (answer: Answer): string[] => data(answer).map((row) => textAt(row, 'id'));

test('an admin limits a key to groups; it sees, creates and changes only mailboxes of these', async () => {
  const [inside, outside] = [await newBox('sales'), await newBox('support')];
  const made = await world.call('POST', '/api/keys', {
    as: organization.admin.session,
    body: { name: 'Sales', scopes: ['mailbox:create', 'mailbox:read', 'mailbox:write'], mailboxGroups: ['sales'] },
  });
  assert.deepEqual(at(made.body, 'mailboxGroups'), ['sales']);
  const as = asKey(textAt(made.body, 'key'));
  assert.deepEqual(idsOf(await world.call('GET', '/api/mailboxes', { as })), [inside.id]);
  assert.deepEqual(idsOf(await world.call('GET', '/api/mailboxes?group=support', { as })), []);
  assert.equal((await world.call('GET', `/api/mailboxes/${inside.id}/messages`, { as })).status, 200);
  assert.equal((await world.call('GET', `/api/mailboxes/${outside.id}/messages`, { as })).status, 404);
  // A mailbox made without a group is in that of the key; others are refused.
  const own = await world.call('POST', '/api/mailboxes', { as });
  assert.equal(at(own.body, 'group'), 'sales');
  for (const [method, path, group] of [
    ['POST', '/api/mailboxes', 'support'],
    ['POST', '/api/mailboxes', null],
    ['PATCH', `/api/mailboxes/${inside.id}`, 'support'],
    ['PATCH', `/api/mailboxes/${inside.id}`, null],
  ] as const) {
    const answer = await world.call(method, path, { as, body: { group } });
    // Null at the creation means: none is chosen.
    if (method === 'POST' && group === null) assert.equal(at(answer.body, 'group'), 'sales');
    else assert.deepEqual([errorCode(answer), detailPaths(answer)], ['insufficient_scope', ['/group']], answer.text);
  }
  const wide = await world.call('PATCH', `/api/keys/${textAt(made.body, 'id')}`, {
    as: organization.admin.session,
    body: { mailboxGroups: null },
  });
  assert.equal(at(wide.body, 'mailboxGroups'), null);
  assert.equal((await world.call('GET', `/api/mailboxes/${outside.id}/messages`, { as })).status, 200);
});

/** The changes by which a mailbox gets out of reach of a key, and the code that requests get from then on. */
const LEAVES: Readonly<Record<string, (box: Box, keyId: string) => Promise<Answer>>> = {
  'a mailbox leaves its group': ({ id }) =>
    world.call('PATCH', `/api/mailboxes/${id}`, { as: organization.key, body: { group: null } }),
  'a key gets other groups': (_, keyId) =>
    world.call('PATCH', `/api/keys/${keyId}`, {
      as: organization.admin.session,
      body: { mailboxGroups: ['elsewhere'] },
    }),
  'a key is revoked': (_, keyId) => world.call('DELETE', `/api/keys/${keyId}`, { as: organization.admin.session }),
};

async function newLimitedKey(group: string): Promise<{ readonly keyId: string; readonly as: Credential }> {
  const made = await world.call('POST', '/api/keys', {
    as: organization.admin.session,
    body: { name: 'Limited', scopes: ['mailbox:read'], mailboxGroups: [group] },
  });
  return { keyId: textAt(made.body, 'id'), as: asKey(textAt(made.body, 'key')) };
}

/** Follows a stream until it ends. */
async function follow(path: string, as: Credential) {
  const response = await fetch(new URL(path, world.api.url), { headers: as });
  assert.equal(response.status, 200);
  let text = '';
  const read = async () => {
    for await (const part of (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream())) text += part;
    return text;
  };
  return { text: () => text, ended: read() };
}

for (const [name, leave] of Object.entries(LEAVES)) {
  test(`when ${name}, an open stream reports nothing more, however much happens at the time`, async () => {
    const group = `moving-${Object.keys(LEAVES).indexOf(name)}`;
    const box = await newBox(group);
    const { keyId, as } = await newLimitedKey(group);
    const messages = [await deliver(box, `${group} one`), await deliver(box, `${group} two`)];
    const stream = await follow(`/api/mailboxes/${box.id}/events/stream`, as);
    let when = 'before';
    let after = 0;
    const write = async (id: string) => {
      for (let i = 0; after < 12; i++) {
        if (when === 'after') after++;
        const body = { labels: [`${when}-${i}`] };
        await world.call('PATCH', `/api/mailbox/messages/${id}`, { as: box.as, body });
      }
    };
    const writing = messages.map(write);
    await waitUntil('events of before', () => stream.text().includes('before-')).catch((error: unknown) => {
      after = Number.MAX_SAFE_INTEGER;
      throw error;
    });
    const left = await leave(box, keyId);
    assert.ok(left.status < 300, left.text);
    when = 'after';
    assert.ok((await world.call('GET', `/api/mailboxes/${box.id}`, { as })).status >= 400);
    await Promise.all(writing);
    const text = await stream.ended;
    assert.match(text, /event: closed\ndata: \{"code":"(?:not_found|unauthenticated)"/);
    assert.ok(!text.includes('after-'), text);
  });

  test(`when ${name}, other processes are notified, and a long poll ends`, async () => {
    const group = `waiting-${Object.keys(LEAVES).indexOf(name)}`;
    const box = await newBox(group);
    const { keyId, as } = await newLimitedKey(group);
    const other = openMailNotifier(world.services);
    let woken = 0;
    other.watchMailbox(box.id, () => woken++);
    other.watchKey(keyId, () => woken++);
    await waitUntil('the other process listens', () => woken >= 2);
    const wait = world.call('GET', `/api/mailboxes/${box.id}/messages/wait?timeoutSeconds=60`, { as });
    await world.call('GET', `/api/mailboxes/${box.id}`, { as });
    const before = woken;
    await leave(box, keyId);
    await waitUntil('the other process was notified', () => woken > before);
    await other.close();
    // Without mail, and before its time is over: the answer would be 200 then.
    assert.ok([401, 404].includes((await wait).status));
  });
}

test('a key with several groups names the one of a new mailbox, and a clientId of another group is a conflict', async () => {
  const as = await limitedKey('one', 'two');
  assert.equal(errorCode(await world.call('POST', '/api/mailboxes', { as })), 'insufficient_scope');
  assert.equal((await world.call('POST', '/api/mailboxes', { as, body: { group: 'two' } })).status, 201);
  const body = { clientId: 'of-another-group' };
  const first = await world.call('POST', '/api/mailboxes', { as: organization.key, body });
  const answer = await world.call('POST', '/api/mailboxes', { as, body: { ...body, group: 'one' } });
  assert.equal(errorCode(answer), 'conflict');
  assert.ok(!answer.text.includes(textAt(first.body, 'address')), answer.text);
});

test('held mail of other groups is out of reach, and a limited key approves single messages only', async () => {
  const [inside, outside] = [await newBox('careful'), await newBox(null)];
  const hold = async (box: Box): Promise<string> => {
    const body = { to: ['stranger@example.com'], subject: 'Held', text: 'x' };
    return textAt((await world.call('POST', '/api/mailbox/messages', { as: box.as, body })).body, 'consentId');
  };
  const [own, foreign] = [await hold(inside), await hold(outside)];
  const as = await limitedKey('careful');
  assert.deepEqual(idsOf(await world.call('GET', '/api/consents', { as })), [own]);
  assert.equal((await world.call('GET', `/api/consents/${own}`, { as })).status, 200);
  assert.equal((await world.call('GET', `/api/consents/${foreign}`, { as })).status, 404);
  const settings = { settings: { consentByApiKey: true } };
  await world.call('PATCH', '/api/organization', { as: organization.owner.session, body: settings });
  const approve = (scope: string) => world.call('POST', `/api/consents/${own}/approve`, { as, body: { scope } });
  assert.equal(errorCode(await approve('domain')), 'insufficient_scope');
  assert.equal((await approve('message')).status, 200);
});

test('one list has the mail of all mailboxes, of a group, or of those a key has access to, page by page', async () => {
  const other = await world.newOrganization('business');
  const [first, second, third] = [await newBox('across'), await newBox('across'), await newBox('across-not')];
  const expected: string[] = [];
  for (const [i, box] of [first, second, third, first, second].entries())
    expected.unshift(await deliver(box, `Across ${i}`));
  const as = await limitedKey('across');
  const ofGroup = expected.filter((_, i) => i !== 2);
  assert.deepEqual(idsOf(await world.call('GET', '/api/messages?group=across', { as: organization.key })), ofGroup);
  assert.deepEqual(idsOf(await world.call('GET', '/api/messages', { as })), ofGroup);
  const all = await world.call('GET', '/api/messages?subject=Across', { as: organization.owner.session });
  assert.deepEqual(idsOf(all), expected);
  assert.deepEqual(data(await world.call('GET', '/api/messages', { as: other.key })), []);
  const pages: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await world.call('GET', `/api/messages?limit=2${cursor}`, { as });
    pages.push(...idsOf(page));
    const next = at(page.body, 'nextCursor');
    if (typeof next !== 'string') break;
    cursor = `&cursor=${next}`;
  }
  assert.deepEqual(pages, ofGroup);
  const one = await world.call('GET', `/api/messages?mailboxId=${first.id}`, { as });
  assert.deepEqual(idsOf(one), [expected[1], expected[4]]);
  assert.equal((await world.call('GET', `/api/messages?mailboxId=${third.id}`, { as })).status, 404);
  assert.equal((await world.call('GET', `/api/messages?mailboxId=${other.mailbox.id}`, { as })).status, 404);
  // Also with a group: an answer must not tell which mailboxes exist out of reach.
  for (const id of [third.id, other.mailbox.id, unknownId({ pattern: '^mbx_' })])
    for (const list of ['messages?', 'messages/search?q=x&', 'threads?']) {
      const refused = await world.call('GET', `/api/${list}group=across&mailboxId=${id}`, { as });
      assert.equal(errorCode(refused), 'not_found', `${list} ${id}`);
    }
  const inNone = await world.call('GET', `/api/messages?group=nothing&mailboxId=${first.id}`, { as });
  assert.deepEqual(idsOf(inNone), []);

  await world.call('PATCH', `/api/mailbox/messages/${expected[0]}`, { as: second.as, body: { seen: true } });
  assert.deepEqual(idsOf(await world.call('GET', '/api/messages?unread=true', { as })), ofGroup.slice(1));
  const groups = await world.call('GET', '/api/mailbox-groups', { as });
  assert.deepEqual(groups.body, { data: [{ name: 'across', mailboxCount: 2, unreadCount: 3 }], unreadCount: 3 });
  const box = await world.call('GET', `/api/mailboxes/${second.id}`, { as });
  assert.equal(at(box.body, 'unreadCount'), 1);

  const threads = await world.call('GET', '/api/threads?limit=3', { as });
  assert.deepEqual(
    data(threads).map((row) => at(row, 'newestMessageId')),
    ofGroup.slice(0, 3),
  );
  const rest = await world.call('GET', `/api/threads?limit=3&cursor=${textAt(threads.body, 'nextCursor')}`, { as });
  assert.deepEqual(
    data(rest).map((row) => [at(row, 'newestMessageId'), at(row, 'mailboxId')]),
    [[ofGroup[3], first.id]],
  );
  // As the mail process stores them.
  await world.sql(
    `insert into message_text (message_id, body, header, cut, words)
     select id, '', '', false, to_tsvector('simple', subject) from message where subject like 'Across%'`,
  );
  const foundAll = await world.call('GET', '/api/messages/search?q=across&limit=2', { as });
  assert.deepEqual(idsOf(foundAll), ofGroup.slice(0, 2));
  const next = `/api/messages/search?q=across&cursor=${textAt(foundAll.body, 'nextCursor')}`;
  assert.deepEqual(idsOf(await world.call('GET', next, { as })), ofGroup.slice(2));
  assert.deepEqual(idsOf(await world.call('GET', '/api/messages/search?q=across', { as: other.key })), []);
});

test('lists show INBOX by default, and refuse an unknown folder', async () => {
  const box = await newBox('folders');
  const id = await deliver(box, 'Filed');
  const as = await limitedKey('folders');
  const paths = ['/api/messages', `/api/mailboxes/${box.id}/messages`];
  await world.call('PATCH', `/api/mailbox/messages/${id}`, {
    as: box.as,
    body: { folder: 'Archive', labels: ['kept'] },
  });
  for (const path of paths) {
    assert.deepEqual(idsOf(await world.call('GET', path, { as })), [], path);
    for (const query of ['folder=Archive', 'folder=*', 'label=kept'])
      assert.deepEqual(idsOf(await world.call('GET', `${path}?${query}`, { as })), [id], `${path}?${query}`);
    const unknown = await world.call('GET', `${path}?folder=Nowhere`, { as });
    assert.deepEqual([errorCode(unknown), detailPaths(unknown)], ['invalid_request', ['query/folder']]);
  }
  const unknown = await world.call('GET', '/api/messages/search?q=x&folder=Nowhere', { as });
  assert.deepEqual([errorCode(unknown), detailPaths(unknown)], ['invalid_request', ['query/folder']]);
});
