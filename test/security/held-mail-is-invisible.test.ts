/**
 * Mail that is held is seen by no token, key or mail client on any protocol: every route that one of them may read, MCP,
 * IMAP, POP3, events and counts. A member sees it; once released it is ordinary mail.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Route } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { openSendingWorld, passwordOf, type SendingWorld } from '#test/sending/sending-world.ts';
import {
  at,
  type Credential,
  errorCode,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

const SECRET = 'Zwieback';
const MESSAGE_ID = '<held-1@stranger.example>';

let world: SendingWorld;
let organization: TestOrganization;
let agent: TestMailbox;
let heldId: string;
before(async () => {
  world = await openSendingWorld({ mail: { lookup: dnsStub(), clients: { failureDelayMs: () => 10 } } });
  organization = world.api.organization;
  agent = await world.api.newMailbox(organization);
  const body = { settings: { screening: 'first_senders' } };
  const set = await world.api.call('PATCH', '/api/organization', { as: organization.owner.session, body });
  assert.equal(set.status, 200, set.text);
  countsBefore = await counts();
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const reply = await client.send(
    `${SECRET}@stranger.example`,
    [agent.address],
    `From: ${SECRET} <${SECRET}@stranger.example>\nTo: ${agent.address}\nSubject: ${SECRET}\nMessage-ID: ${MESSAGE_ID}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=cut\n\n--cut\nContent-Type: text/plain\n\n${SECRET} code 482913\n--cut\nContent-Type: application/pdf; name="${SECRET}.pdf"\nContent-Disposition: attachment; filename="${SECRET}.pdf"\n\n%PDF-${SECRET}\n--cut--\n`,
  );
  client.close();
  assert.match(reply, /^250 2\.6\.0 Accepted msg_\w+$/);
  heldId = /msg_\w+/.exec(reply)?.[0] ?? '';
});
after(() => world?.close());

let countsBefore: unknown;
/** What says how much mail there is. */
async function counts() {
  const box = (await call('GET', '/api/mailbox', { as: agent.token })).body;
  const folders = (await call('GET', '/api/mailbox/folders', { as: agent.token })).body;
  const usage = (await call('GET', '/api/usage', { as: organization.key })).body;
  return { quota: at(box, 'quota'), unread: at(box, 'unreadCount'), today: at(box, 'today'), folders, usage };
}

const call: SendingWorld['api']['call'] = (...given) => world.api.call(...given);

/** With what a program may come. */
const credentials = (): readonly (readonly [string, Credential])[] => [
  ['the token of the mailbox', agent.token],
  ['a key with every scope', organization.key],
];

const isForPrograms = ({ auth }: Route): boolean =>
  auth === 'mailbox_token' || (typeof auth === 'object' && 'scope' in auth);
const STREAMS = /\/(?:events|wait|stream|changes)(?:\/|$)/;
const readable = routes.filter((route) => route.method === 'GET' && isForPrograms(route) && !STREAMS.test(route.path));

/** The path with the ids of the mailbox and of the held mail in every place where they may stand. */
function addressesOf(path: string): string[] {
  const names = path.match(/:[a-z]+/gi) ?? [];
  const filled = (id: string) =>
    names.reduce(
      (address, name) =>
        address.replace(
          name,
          name === ':id' && path.startsWith('/api/mailboxes/') ? agent.id : name === ':aid' ? '2' : id,
        ),
      path,
    );
  return [...new Set([filled(heldId), filled(agent.id)])];
}

function isSilent(text: string, what: string): void {
  assert.ok(!text.toLowerCase().includes(SECRET.toLowerCase()), `${what} shows words of it: ${text.slice(0, 300)}`);
  assert.doesNotMatch(text, /482913/, what);
}

describe('while it is held', () => {
  test('no route that a token or key may read shows it', async () => {
    assert.ok(readable.length > 50, `${readable.length} routes`);
    for (const [whose, as] of credentials())
      for (const { path } of readable)
        for (const address of addressesOf(path)) {
          const answer = await call('GET', address, { as });
          isSilent(answer.text, `${address} with ${whose}`);
          if (address.includes(heldId)) assert.notEqual(answer.status, 200, `${address} with ${whose}`);
          else assert.doesNotMatch(answer.text, new RegExp(heldId), `${address} with ${whose}`);
        }
  });
  const asked = [
    `/api/mailbox/messages?folder=*`,
    `/api/mailbox/messages?from=${SECRET}`,
    `/api/mailbox/messages?folder=Junk`,
    `/api/mailbox/messages?since=2020-01-01T00:00:00Z`,
    `/api/mailbox/messages/search?q=${SECRET}`,
    `/api/mailbox/messages/wait?timeoutSeconds=1&since=2020-01-01T00:00:00Z&extract=otp`,
    `/api/mailbox/threads`,
    `/api/messages?from=${SECRET}`,
    `/api/messages/search?q=${SECRET}`,
    `/api/threads`,
  ];
  for (const address of asked)
    test(`${address} finds nothing`, async () => {
      for (const [whose, as] of credentials()) {
        const answer = await call('GET', address, { as });
        isSilent(answer.text, `${address} with ${whose}`);
        assert.doesNotMatch(answer.text, /msg_/, whose);
      }
    });
  test('nothing counts it', async () => assert.deepEqual(await counts(), countsBefore));
  test('it cannot be changed, answered, forwarded or deleted', async () => {
    const changes = [
      ['PATCH', `/api/mailbox/messages/${heldId}`, { seen: true }],
      ['DELETE', `/api/mailbox/messages/${heldId}?permanent=true`, undefined],
      ['POST', `/api/mailbox/messages/${heldId}/reply`, { text: 'x' }],
      ['POST', `/api/mailbox/messages/${heldId}/forward`, { to: [agent.address] }],
    ] as const;
    for (const [method, address, body] of changes) {
      const answer = await call(method, address, { as: agent.token, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, 404, `${method} ${address}: ${answer.text}`);
    }
  });
  test('no key and no token reads or decides held mail, or changes the screening', async () => {
    for (const [whose, as] of credentials()) {
      const refused = [
        await call('GET', '/api/held-mail', { as }),
        await call('GET', `/api/held-mail/${heldId}`, { as }),
        await call('POST', `/api/held-mail/${heldId}/decide`, { as, body: { decision: 'release' } }),
      ];
      for (const answer of refused) assert.ok([401, 403].includes(answer.status), `${whose}: ${answer.text}`);
    }
    const body = { screening: 'off' };
    const changed = await call('PATCH', `/api/mailboxes/${agent.id}`, { as: organization.key, body });
    assert.deepEqual([changed.status, errorCode(changed)], [403, 'forbidden']);
  });
  test('no other organization sees it', async () => {
    const { owner } = world.api.other;
    assert.equal((await call('GET', `/api/held-mail/${heldId}`, { as: owner.session })).status, 404);
    const listed = await call('GET', '/api/held-mail', { as: owner.session });
    assert.deepEqual(at(listed.body, 'data'), []);
  });
  test('MCP does not show it', async () => {
    const tools = [
      ['list_messages', { folder: '*' }],
      ['search_messages', { query: SECRET }],
      ['read_message', { messageId: heldId }],
      ['list_threads', {}],
      ['list_folders', {}],
      ['wait_for_message', { timeoutSeconds: 1 }],
    ] as const;
    for (const [name, input] of tools) {
      const answer = await world.api.call('POST', '/mcp', {
        as: agent.token,
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
      });
      isSilent(answer.text.replaceAll(`"${SECRET}"`, ''), name);
    }
  });
  test('IMAP does not show it', async () => {
    const client = await LineClient.open(world.mail.imap.port, { secure: true });
    await client.line();
    const answers: string[] = [];
    for (const [n, command] of [
      `LOGIN ${agent.address} "${passwordOf(agent)}"`,
      'STATUS INBOX (MESSAGES UNSEEN UIDNEXT SIZE)',
      'STATUS Junk (MESSAGES)',
      'GETQUOTAROOT INBOX',
      'SELECT INBOX',
      `SEARCH TEXT ${SECRET}`,
      'UID FETCH 1:* (ENVELOPE)',
      'LIST "" "*"',
    ].entries()) {
      client.send(`t${n} ${command}\r\n`);
      for (let line = await client.line(); line !== undefined; line = await client.line()) {
        answers.push(line);
        if (line.startsWith(`t${n} `)) break;
      }
    }
    client.close();
    const all = answers.join('\n');
    assert.match(all, /STATUS "?INBOX"? \(MESSAGES 0 UNSEEN 0 UIDNEXT 1 SIZE 0\)/);
    assert.match(all, /STATUS "?Junk"? \(MESSAGES 0\)/);
    assert.match(all, /\* 0 EXISTS/);
    isSilent(all, 'IMAP');
  });
  test('POP3 does not show it', async () => {
    const client = await LineClient.open(world.mail.pop3.port, { secure: true });
    await client.line();
    await client.command(`USER ${agent.address}`);
    assert.match((await client.command(`PASS ${passwordOf(agent)}`)) ?? '', /^\+OK 0 messages/);
    client.close();
  });
  test('no event and no change is recorded', async () => {
    const events = await world.api.sql(`select payload from events where mailbox_id = $1 and type like 'email%'`, [
      agent.id,
    ]);
    assert.deepEqual(events, []);
    const changes = await world.api.sql(`select 1 from change_log where mailbox_id = $1`, [agent.id]);
    assert.deepEqual(changes, []);
  });
  test('a member sees it, with its text', async () => {
    const { member } = organization;
    const listed = await call('GET', '/api/held-mail', { as: member.session });
    assert.equal(textAt(listed.body, 'data', 0, 'id'), heldId);
    assert.deepEqual(at(listed.body, 'data', 0, 'reasons'), ['first_sender']);
    const shown = await call('GET', `/api/held-mail/${heldId}`, { as: member.session });
    assert.match(textAt(shown.body, 'content', 'text'), /Zwieback code 482913/);
  });
});

test('once released it is ordinary mail, with the time of its arrival', async () => {
  const as = organization.member.session;
  const shown = await call('GET', `/api/held-mail/${heldId}`, { as });
  const receivedAt = textAt(shown.body, 'receivedAt');
  await world.api.sql(`update held_arrival set received_at = received_at - interval '3 hours' where id = $1`, [heldId]);
  const arrived = new Date(Date.parse(receivedAt) - 3 * 3_600_000).toISOString();
  const released = await call('POST', `/api/held-mail/${heldId}/decide`, { as, body: { decision: 'release' } });
  assert.equal(released.status, 200, released.text);
  const message = await call('GET', `/api/mailbox/messages/${heldId}`, { as: agent.token });
  assert.equal(textAt(message.body, 'receivedAt'), arrived);
  assert.deepEqual(await world.folder(agent, 'INBOX'), [SECRET]);
  const events = await world.events('email_received', heldId);
  assert.deepEqual(
    events.map((event) => [event['subject'], event['receivedAt']]),
    [[SECRET, arrived]],
  );
  const again = await call('POST', `/api/held-mail/${heldId}/decide`, { as, body: { decision: 'block' } });
  assert.deepEqual([again.status, errorCode(again)], [409, 'conflict']);
});
