import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, asBearer, at, type Credential, errorCode, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

interface Made {
  readonly id: string;
  readonly as: Credential;
  readonly secret: string;
}

async function newToken(mailboxId: string, body: object): Promise<Made> {
  const { key } = world.organization;
  const answer = await world.call('POST', `/api/mailboxes/${mailboxId}/tokens`, { as: key, body });
  assert.equal(answer.status, 201, answer.text);
  const secret = textAt(answer.body, 'token');
  return { id: textAt(answer.body, 'id'), as: asBearer(secret), secret };
}

const tokensOf = async (mailboxId: string): Promise<object[]> => {
  const answer = await world.call('GET', `/api/mailboxes/${mailboxId}/tokens`, { as: world.organization.key });
  const data = at(answer.body, 'data');
  assert.ok(Array.isArray(data), answer.text);
  return data;
};

const letter = (to: string) => ({ to: [to], subject: 'Hello', text: 'x' });

test('a mailbox has its first token and further ones, each shown once, and the database none of them', async () => {
  const mailbox = await world.newMailbox(world.organization);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const made = await newToken(mailbox.id, { name: 'Monitoring', access: 'read', expiresAt });
  const rows = await tokensOf(mailbox.id);
  assert.deepEqual(
    rows.map((row) => [at(row, 'name'), at(row, 'access'), at(row, 'isFirst'), at(row, 'expiresAt')]),
    [
      ['Monitoring', 'read', false, expiresAt],
      ['First token', 'full', true, null],
    ],
  );
  assert.ok(made.secret.startsWith(textAt(rows[0], 'tokenHint')));
  const stored = await world.sql(
    `select t::text from mailbox_token t union all select a::text from audit_entries a
      union all select c::text from organization_change c`,
  );
  assert.ok(!JSON.stringify([stored, rows]).includes(made.secret));
  const audited = await world.sql(`select details from audit_entries where action = 'mailbox.token_created'`);
  assert.ok(audited.some(({ details }) => at(details, 'tokenId') === made.id));
});

test('a token with access read can only read', async () => {
  const { mailbox, key } = world.organization;
  const sent = await world.call('POST', '/api/mailbox/messages', { as: mailbox.token, body: letter(mailbox.address) });
  const { as } = await newToken(mailbox.id, { name: 'Reader', access: 'read' });
  const path = `/api/mailbox/messages/${textAt(sent.body, 'id')}`;
  assert.equal((await world.call('GET', path, { as })).status, 200);
  assert.equal((await world.call('GET', `/api/mailboxes/${mailbox.id}/messages`, { as })).status, 200);
  for (const [method, to, body] of [
    ['PATCH', path, { seen: true }],
    ['DELETE', path, undefined],
    ['POST', '/api/mailbox/messages', letter(mailbox.address)],
    ['POST', `${path}/reply`, { text: 'x' }],
    ['POST', '/api/mailbox/drafts', letter(mailbox.address)],
    ['POST', '/api/mailbox/files/uploads', { filename: 'a.txt' }],
  ] as const) {
    const answer = await world.call(method, to, { as, ...(body === undefined ? {} : { body }) });
    assert.deepEqual([answer.status, errorCode(answer)], [403, 'insufficient_scope'], `${method} ${to}`);
  }
  assert.equal((await world.call('GET', path, { as: mailbox.token })).status, 200);
  assert.equal((await world.call('GET', `/api/mailboxes/${mailbox.id}`, { as: key })).status, 200);
});

test('a token with access send can only send, and read the status of what it sent', async () => {
  const { mailbox } = world.organization;
  const { as } = await newToken(mailbox.id, { name: 'Sender', access: 'send' });
  const sent = await world.call('POST', '/api/mailbox/messages', { as, body: letter(mailbox.address) });
  assert.equal(sent.status, 201, sent.text);
  const id = textAt(sent.body, 'id');
  assert.equal((await world.call('GET', `/api/mailbox/messages/${id}/status`, { as })).status, 200);
  assert.equal((await world.call('GET', '/api/mailbox', { as })).status, 200);
  for (const path of ['', `/${id}`, `/${id}/raw`, '/search?q=hello', '/outbox', '/wait?timeout=0']) {
    const answer = await world.call('GET', `/api/mailbox/messages${path}`, { as });
    assert.deepEqual([answer.status, errorCode(answer)], [403, 'insufficient_scope'], path);
  }
  // What is stored is not sent on either.
  const attached = { ...letter(mailbox.address), attachments: [{ messageId: id, attachmentId: '2' }] };
  const refused = await world.call('POST', '/api/mailbox/messages', { as, body: attached });
  assert.equal(errorCode(refused), 'insufficient_scope');
  assert.equal(at(refused.body, 'error', 'details', 0, 'path'), '/attachments/0/messageId');
  const forward = await world.call('POST', `/api/mailbox/messages/${id}/forward`, {
    as,
    body: { to: [mailbox.address], text: 'x' },
  });
  assert.equal(errorCode(forward), 'insufficient_scope');
});

test('expired and revoked tokens are refused; rotation replaces a revoked first token', async () => {
  const mailbox = await world.newMailbox(world.organization);
  const { key } = world.organization;
  const [expiring, other] = [
    await newToken(mailbox.id, { name: 'Short', expiresAt: new Date(Date.now() + 3_600_000).toISOString() }),
    await newToken(mailbox.id, { name: 'Other' }),
  ];
  const works = async (as: Credential) => (await world.call('GET', '/api/mailbox', { as })).status;
  assert.equal(await works(expiring.as), 200);
  await world.sql(`update mailbox_token set expires_at = now() - interval '1 second' where id = $1`, [expiring.id]);
  assert.equal(await works(expiring.as), 401);
  const first = (await tokensOf(mailbox.id)).find((row) => at(row, 'isFirst') === true);
  const path = `/api/mailboxes/${mailbox.id}/tokens/${textAt(first, 'id')}`;
  assert.equal((await world.call('DELETE', path, { as: key })).status, 204);
  assert.equal((await world.call('DELETE', path, { as: key })).status, 404);
  assert.deepEqual([await works(mailbox.token), await works(other.as)], [401, 200]);
  const rotated = await world.call('POST', `/api/mailboxes/${mailbox.id}/rotate-token`, { as: key });
  assert.equal(await works(asBearer(textAt(rotated.body, 'token'))), 200);
  assert.equal(await works(other.as), 200, 'rotation is about the first token alone');
  assert.equal((await tokensOf(mailbox.id)).filter((row) => at(row, 'isFirst') === true).length, 1);
  assert.equal((await world.call('DELETE', `/api/mailboxes/${mailbox.id}`, { as: key })).status, 204);
  assert.equal(await works(other.as), 401);
  assert.deepEqual(await world.sql(`select id from mailbox_token where mailbox_id = $1`, [mailbox.id]), []);
});

test('a token belongs to its mailbox and organization, and an expiry in the past is refused', async () => {
  const { key, mailbox, other } = { ...world.organization, other: world.other };
  const { id } = await newToken(mailbox.id, { name: 'Own' });
  const another = await world.newMailbox(world.organization);
  for (const [path, as] of [
    [`/api/mailboxes/${another.id}/tokens/${id}`, key],
    [`/api/mailboxes/${mailbox.id}/tokens/${id}`, other.key],
    [`/api/mailboxes/${other.mailbox.id}/tokens/${id}`, other.key],
  ] as const)
    assert.equal((await world.call('DELETE', path, { as })).status, 404, path);
  const late = { name: 'Late', expiresAt: '2020-01-01T00:00:00.000Z' };
  const answer = await world.call('POST', `/api/mailboxes/${mailbox.id}/tokens`, { as: key, body: late });
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), '/expiresAt');
});

test('the last use of a token is noted', async () => {
  const { mailbox } = world.organization;
  const { id, as } = await newToken(mailbox.id, { name: 'Used' });
  await world.call('GET', '/api/mailbox', { as });
  await waitUntil('its use is noted', async () =>
    (await tokensOf(mailbox.id)).some((row) => at(row, 'id') === id && at(row, 'lastUsedAt') !== null),
  );
});
