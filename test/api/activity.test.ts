import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { type Answer, at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';

let world: WholeService;
before(async () => {
  world = await wholeService({
    WEBHOOK_RETRY_DELAYS_MS: '50,600000,600000,600000',
    TEMPORAL_UI_URL: 'https://temporal.example.com/',
  });
});
after(() => world?.close());

const find = (organization: TestOrganization, q: string): Promise<Answer> =>
  world.call('GET', `/api/activity?q=${encodeURIComponent(q)}`, { as: organization.member.session });

interface Entry {
  readonly at: string | null;
  readonly kind: string;
  readonly outcome: string;
  readonly text: string;
  readonly detail: string | null;
  readonly eventId: string | null;
  readonly deliveryId: string | null;
  readonly consentId: string | null;
  readonly temporalUrl?: string;
}

function entriesOf(answer: Answer): Entry[] {
  assert.equal(answer.status, 200, answer.text);
  const entries = at(answer.body, 'timeline', 'entries');
  assert.ok(Array.isArray(entries));
  return entries;
}

const kindsOf = (answer: Answer): string[] => entriesOf(answer).map(({ kind }) => kind);
const hitsOf = (answer: Answer): string[] => {
  const hits = at(answer.body, 'hits');
  assert.ok(Array.isArray(hits));
  return hits.map((hit) => textAt(hit, 'id'));
};

/** Waits until the timeline of something has an entry of this kind. */
const until = (organization: TestOrganization, q: string, kind: string, outcome: string) =>
  waitUntil(`${kind} ${outcome} of ${q}`, async () => {
    const answer = await find(organization, q);
    if (at(answer.body, 'timeline') === null) return false;
    return entriesOf(answer).some((entry) => entry.kind === kind && entry.outcome === outcome) && answer;
  });

async function subscribe(organization: TestOrganization): Promise<string> {
  const answer = await world.call('POST', '/api/webhooks', {
    as: organization.key,
    body: { url: world.receiver.url, eventTypes: ['email_received', 'email_sent', 'outbound_consent_approved'] },
  });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

/** Brings a mail to the organization's mailbox. @returns the id of the message */
async function receive(organization: TestOrganization, subject: string, from = 'bob@example.com'): Promise<string> {
  const reply = await world.deliver(
    organization.mailbox.address,
    `From: Bob <${from}>\r\nTo: ${organization.mailbox.address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@example.com>\r\n\r\nWords.\r\n`,
    from,
  );
  assert.match(reply, /^250/);
  const [row] = await world.sql(`select id from message where mailbox_id = $1 and subject = $2`, [
    organization.mailbox.id,
    subject,
  ]);
  return String(row?.['id']);
}

test('a received message has one timeline from SMTP to the attempts of its webhook, by any of its names', async () => {
  const organization = await world.newOrganization('business');
  await subscribe(organization);
  world.receiver.answer(500, 200);
  const id = await receive(organization, 'Kettle order 4711');
  const answer = await waitUntil('both attempts', async () => {
    const found = await find(organization, id);
    const kinds = kindsOf(found);
    const isOver = !kinds.includes('delivery_waiting');
    return kinds.filter((kind) => kind === 'delivery_attempt').length === 2 && isOver && found;
  });
  const entries = entriesOf(answer);
  assert.deepEqual(kindsOf(answer).toSorted(), ['accepted', 'delivery_attempt', 'delivery_attempt', 'event', 'stored']);
  const [accepted, stored] = entries;
  assert.match(accepted?.text ?? '', /^Accepted by SMTP from \S+ .*127\.0\.0\.1.* for /);
  assert.match(accepted?.detail ?? '', /^SPF \w+ · DKIM none · DMARC \w+ · envelope sender bob@example\.com$/);
  assert.match(stored?.text ?? '', new RegExp(`^Stored in (?:INBOX|Junk) of ${organization.mailbox.address}$`));
  const attempts = entries.filter(({ kind }) => kind === 'delivery_attempt');
  assert.deepEqual(
    attempts.map(({ outcome, detail }) => [outcome, detail]),
    [
      ['failed', 'email_received · attempt 1 of 5'],
      ['ok', 'email_received · attempt 2 of 5'],
    ],
  );
  assert.match(attempts[0]?.text ?? '', /^→ localhost:\d+ 500 in \d+ ms$/);
  assert.match(
    attempts[0]?.temporalUrl ?? '',
    /^https:\/\/temporal\.example\.com\/namespaces\/default\/workflows\/delivery%2F/,
  );
  const times = entries.map((entry) => Date.parse(entry.at ?? ''));
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
  );

  const eventId = entries.find(({ kind }) => kind === 'event')?.eventId ?? '';
  const deliveryId = attempts[0]?.deliveryId ?? '';
  for (const [q, kind] of [
    [eventId, 'event'],
    [deliveryId, 'delivery'],
    [` ${id} `, 'message'],
    ['<Kettle-order-4711@example.com>', 'message_id_header'],
  ] as const) {
    const found = await find(organization, q);
    assert.equal(textAt(found.body, 'understoodAs'), kind);
    assert.deepEqual(entriesOf(found), entries, q);
  }
  // The words are stored a moment after the message.
  await waitUntil('the words to be found', async () => hitsOf(await find(organization, 'kettle 4711')).includes(id));
  const byWords = await find(organization, 'kettle 4711');
  assert.equal(textAt(byWords.body, 'understoodAs'), 'words');
  assert.deepEqual(entriesOf(byWords), entries);
});

test('the timeline of a sent message has its approval and the SMTP attempts at each recipient', async () => {
  const organization = await world.newOrganization('business');
  await subscribe(organization);
  world.receiver.answer(200);
  // Earlier files of the process may still have notices to send.
  world.peer.faults = [{ at: 'rcpt', for: 'Zed@stranger.example', reply: 451, words: '4.2.0 later', times: 1 }];
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: ['Zed@stranger.example'], subject: 'First words', text: 'Hello' },
  });
  assert.equal(sent.status, 202, sent.text);
  const [id, consentId] = [textAt(sent.body, 'id'), textAt(sent.body, 'consentId')];
  const held = await find(organization, consentId);
  assert.equal(textAt(held.body, 'understoodAs'), 'consent');
  assert.deepEqual(
    entriesOf(held).map(({ kind, outcome, at: time }) => [kind, outcome, time !== null]),
    [
      ['submitted', 'ok', true],
      ['held', 'waiting', true],
      ['event', 'none', true],
      ['decided', 'waiting', false],
    ],
  );
  const approved = await world.call('POST', `/api/consents/${consentId}/approve`, {
    as: organization.owner.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  const answer = await until(organization, id, 'send_attempt', 'ok');
  const entries = entriesOf(answer);
  const texts = entries.map(({ text }) => text).join('\n');
  assert.match(texts, /Approved by A owner/);
  const attempts = entries.filter(({ kind }) => kind === 'send_attempt');
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ['waiting', 'ok'],
  );
  assert.match(attempts[0]?.detail ?? '', /4\.2\.0 later/);
  assert.equal(textAt(answer.body, 'timeline', 'message', 'direction'), 'outbound');
  await until(organization, id, 'delivery_attempt', 'ok');
  for (const q of ['zed@stranger.example', organization.mailbox.address])
    assert.deepEqual(hitsOf(await find(organization, q)), [id], q);
});

test('a held message is found by its recipient and its subject, and a denied one says by whom and why', async () => {
  const organization = await world.newOrganization('business');
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: ['ann@contoso.example'], subject: 'Marmalade terms', text: 'Hello' },
  });
  const [id, consentId] = [textAt(sent.body, 'id'), textAt(sent.body, 'consentId')];
  for (const q of ['ANN@contoso.example', 'marmalade']) {
    const found = await find(organization, q);
    assert.deepEqual(hitsOf(found), [id], q);
    assert.equal(textAt(found.body, 'hits', 0, 'status'), 'consent_pending');
  }
  await world.call('POST', `/api/consents/${consentId}/deny`, {
    as: organization.owner.session,
    body: { reason: 'Not now' },
  });
  const denied = entriesOf(await find(organization, id)).find(({ kind }) => kind === 'decided');
  assert.deepEqual([denied?.text, denied?.detail, denied?.outcome], ['Denied by A owner', 'Not now', 'failed']);
});

test('several messages are a list, newest first and bounded; an event without a message has a timeline too', async () => {
  const organization = await world.newOrganization('business');
  const ids: string[] = [];
  for (let i = 0; i < 53; i++) {
    const atMs = Date.now() - i;
    const id = newId('message', atMs);
    await world.sql(
      `insert into outbound_message (id, organization_id, mailbox_id, size, content_hash, message_id_header, from_address,
         to_addresses, cc_addresses, subject, preview, labels, via, actor, state, submitted_at, due_at, finished_at)
       values ($1, $2, $3, 1, '', '<x@y>', $4, '[]', '[]', 'Many', '', '{}', 'api', '{"type": "system"}', 'done', $5, $5, $5)`,
      [id, organization.id, organization.mailbox.id, organization.mailbox.address, new Date(atMs)],
    );
    await world.sql(
      `insert into outbound_recipient (message_id, organization_id, number, address, local, status)
       values ($1, $2, 1, 'all@list.example', false, 'sent')`,
      [id, organization.id],
    );
    ids.push(id);
  }
  const many = await find(organization, 'all@list.example');
  assert.deepEqual(hitsOf(many), ids.toSorted().toReversed().slice(0, 50));
  assert.deepEqual([at(many.body, 'more'), at(many.body, 'complete'), at(many.body, 'timeline')], [true, true, null]);

  await world.call('POST', '/api/webhooks', {
    as: organization.key,
    body: { url: world.receiver.url, eventTypes: ['mailbox_created'] },
  });
  world.receiver.answer(200);
  await world.newMailbox(organization);
  const delivery = await waitUntil('the delivery', async () => {
    const [row] = await world.sql(`select id from deliveries where organization_id = $1 and status = 'success'`, [
      organization.id,
    ]);
    return row?.['id'];
  });
  const answer = await find(organization, String(delivery));
  assert.equal(at(answer.body, 'timeline', 'message'), null);
  assert.deepEqual(kindsOf(answer), ['event', 'delivery_attempt']);
});

test('nothing of another organization is found, by no name', async () => {
  const owner = await world.newOrganization('business');
  const stranger = await world.newOrganization('business');
  await subscribe(owner);
  world.receiver.answer(200);
  const id = await receive(owner, 'Secret plans');
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: owner.mailbox.token,
    body: { to: ['eve@elsewhere.example'], subject: 'Secret offer', text: 'Hello' },
  });
  const own = await until(owner, id, 'delivery_attempt', 'ok');
  await waitUntil('the words', async () => hitsOf(await find(owner, 'plans')).length === 1);
  const { eventId, deliveryId } = entriesOf(own).find((entry) => entry.kind === 'delivery_attempt') ?? {};
  const names = [
    id,
    eventId ?? '',
    deliveryId ?? '',
    textAt(sent.body, 'id'),
    textAt(sent.body, 'consentId'),
    '<Secret-plans@example.com>',
    'eve@elsewhere.example',
    owner.mailbox.address,
    'secret',
    'bob@example.com',
  ];
  for (const name of names) {
    assert.notEqual(name, '');
    const { body } = await find(stranger, name);
    assert.deepEqual([at(body, 'hits'), at(body, 'timeline')], [[], null], name);
  }
});

test('text that cannot be a name finds nothing and causes no error', async () => {
  const { organization } = world;
  for (const q of ['msg_01k8e8f2c0e4x9w2v7a3r5t6y8', '"', '-', ')(', '%', '\\', "' or 1=1 --", '<>', '🙂'])
    assert.deepEqual(hitsOf(await find(organization, q)), [], q);
});
