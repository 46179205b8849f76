/** Brakes of sending: a stop, drafts only, budgets; by REST and by SMTP, with two processes of each kind. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type OutboundSweep, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import type { Transport } from '#sending/transports/transport.ts';
import {
  type Answer,
  at,
  errorCode,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { testVariables } from '#test/support/services.ts';
import { logIn } from '#test/support/submission-client.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  type Answered,
  openSendingWorld,
  passwordOf,
  SENDING_ENTRY_POINTS,
  type SendingEntryPoint,
  type SendingWorld,
} from './sending-world.ts';

const PATIENCE_MS = 120_000;
/** Of the relay that the worker in this process hands mail to. */
const CONNECTIONS = 3;
const HAND_OVER_MS = 20;

let world: SendingWorld;
/** Where the worker of this process hands mail to: slowly, a few at once, as a provider that limits its clients. */
let relay: Peer;
let secondMailPort = 0;
/** As the api processes have it: the engine may be too slow for a start or a signal. */
let sweep: OutboundSweep;
const parts: PartProcess[] = [];

function slowly(transport: () => Transport): Transport {
  let free = CONNECTIONS;
  const line: (() => void)[] = [];
  return {
    via: 'relay',
    destinationOf: () => 'relay.test',
    async send(mail) {
      if (free === 0) await new Promise<void>((resolve) => line.push(resolve));
      else free--;
      try {
        await delay(HAND_OVER_MS);
        return await transport().send(mail);
      } finally {
        const next = line.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}

before(async () => {
  relay = await startPeer();
  const secrets = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
    TEMPORAL_TASK_QUEUE: `brakes-${randomBytes(6).toString('hex')}`,
    OUTBOUND_RETRY_DELAYS_MS: '100',
  };
  world = await openSendingWorld({
    settings: secrets,
    transport: slowly(() => relayTransport({ url: relay.url, hostname: 'mail.test' })),
  });
  sweep = startOutboundSweep(world.api.services, world.api.temporal);
  secondMailPort = await testPort();
  const environment = {
    ...secrets,
    DATABASE_URL: world.api.services.settings.DATABASE_URL ?? '',
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: relay.url,
  };
  for (const part of ['mail', 'worker'] as const) {
    const metrics = String(await testPort());
    const more = part === 'mail' ? { SUBMISSION_PORT: String(secondMailPort) } : {};
    parts.push(startPart(part, testVariables({ ...environment, ...more, METRICS_PORT: metrics })));
  }
  for (const part of parts)
    await waitUntil(
      'the second processes to be ready',
      async () => (await part.readiness())?.status === 'ready',
      PATIENCE_MS,
    );
});
after(async () => {
  await sweep?.close();
  await Promise.all(parts.map((part) => part.stop()));
  await world?.close();
  await relay?.close();
});

async function newOrganization(): Promise<TestOrganization> {
  const organization = await world.api.newOrganization('unlimited');
  await setOrganization(organization, { outboundConsent: 'off' });
  return organization;
}

async function setOrganization(organization: TestOrganization, settings: object): Promise<void> {
  const answer = await world.api.call('PATCH', '/api/organization', {
    as: organization.admin.session,
    body: { settings },
  });
  assert.equal(answer.status, 200, answer.text);
}

const setMailbox = (organization: TestOrganization, body: object, as = organization.member.session): Promise<Answer> =>
  world.api.call('PATCH', `/api/mailboxes/${organization.mailbox.id}`, { as, body });

let number = 0;
const stranger = () => `p${++number}@d${number}.example`;

const mailboxOf = async ({ mailbox, member }: TestOrganization): Promise<unknown> =>
  (await world.api.call('GET', `/api/mailboxes/${mailbox.id}`, { as: member.session })).body;

async function draftOf(mailbox: TestMailbox): Promise<string> {
  const saved = await world.api.call('POST', '/api/mailbox/drafts', {
    as: mailbox.token,
    body: { to: [stranger()], subject: 'A draft', text: 'Some words.' },
  });
  assert.equal(saved.status, 201, saved.text);
  return textAt(saved.body, 'id');
}

const arrived = (subject: string): number =>
  relay.received.filter(({ bytes }) => bytes.includes(`Subject: ${subject}`)).length;

for (const entry of SENDING_ENTRY_POINTS)
  describe(`by ${entry}`, () => {
    for (const scope of ['mailbox', 'organization'] as const)
      test(`a stop of the ${scope} refuses new mail with instructions, and drafts can be saved`, async () => {
        const organization = await newOrganization();
        const { mailbox } = organization;
        const stop = (stopped: boolean) =>
          scope === 'organization'
            ? setOrganization(organization, { sendingStopped: stopped })
            : setMailbox(organization, { sendingMode: stopped ? 'stopped' : 'normal' });
        await stop(true);
        assert.equal(at(await mailboxOf(organization), 'sending', 'stoppedBy'), scope);
        const refused = await world.send(entry, mailbox, { to: [stranger()] });
        assert.equal(refused.kind, 'refused');
        assert.match(
          refused.words,
          entry === 'REST' ? /^403 .*sending_stopped.*Save a draft/s : /^450 4\.7\.1 A person stopped/,
        );
        const here = await world.send(entry, mailbox, { to: [mailbox.address] });
        assert.equal(here.kind, 'refused', 'mail within the host is stopped too');
        await draftOf(mailbox);
        const [event] = await world.api.sql(
          `select payload from events where type = 'email_blocked' and mailbox_id = $1 order by id limit 1`,
          [mailbox.id],
        );
        assert.equal(JSON.parse(String(event?.['payload'])).data.reason, 'sending_stopped');
        await stop(false);
        assert.equal((await world.send(entry, mailbox, { to: [stranger()] })).kind, 'accepted');
      });

    test('drafts only: an agent saves, a person sends', async () => {
      const organization = await newOrganization();
      const { mailbox } = organization;
      await setMailbox(organization, { sendingMode: 'drafts_only' });
      const refused = await world.send(entry, mailbox, { to: [stranger()] });
      assert.match(
        refused.words,
        entry === 'REST' ? /^403 .*drafts_only.*a signed-in person can send/s : /^550 5\.7\.1 .*drafts only/,
      );
      const draft = await draftOf(mailbox);
      const path = `/api/mailboxes/${mailbox.id}/drafts/${draft}/send`;
      const byKey = await world.api.call('POST', path, { as: organization.key });
      assert.deepEqual([byKey.status, errorCode(byKey)], [403, 'drafts_only']);
      const byToken = await world.api.call('POST', `/api/mailbox/drafts/${draft}/send`, { as: mailbox.token });
      assert.equal(errorCode(byToken), 'drafts_only');
      const byPerson = await world.api.call('POST', path, { as: organization.member.session });
      assert.equal(byPerson.status, 201, byPerson.text);
      await world.reaches(mailbox, textAt(byPerson.body, 'id'), 'sent');
    });
  });

test('an API key can tighten brakes and never loosen one; the audit log has each change', async () => {
  const organization = await newOrganization();
  const { key, mailbox } = organization;
  const tighter = [
    { budgets: { messagesPerDay: 10, newRecipientsPerDay: 5 } },
    { budgets: { messagesPerDay: 4 } },
    { sendingMode: 'drafts_only' },
    { sendingMode: 'stopped' },
  ];
  for (const body of tighter)
    assert.equal((await setMailbox(organization, body, key)).status, 200, JSON.stringify(body));
  const looser = [
    { sendingMode: 'drafts_only' },
    { sendingMode: 'normal' },
    { budgets: { messagesPerDay: 5 } },
    { budgets: { messagesPerDay: null } },
    { budgets: { newRecipientsPerDay: null } },
    { sendingMode: 'stopped', budgets: { newRecipientsPerDay: 6 } },
  ];
  for (const body of looser) {
    const answer = await setMailbox(organization, body, key);
    assert.deepEqual([answer.status, errorCode(answer)], [403, 'forbidden'], JSON.stringify(body));
  }
  const byToken = await setMailbox(organization, { sendingMode: 'normal' }, mailbox.token);
  assert.ok(byToken.status === 401 || byToken.status === 403, byToken.text);
  const byKey = await world.api.call('PATCH', '/api/organization', {
    as: key,
    body: { settings: { sendingStopped: false } },
  });
  assert.ok(byKey.status === 401 || byKey.status === 403, byKey.text);
  const now = await mailboxOf(organization);
  assert.deepEqual(
    [at(now, 'sendingMode'), at(now, 'budgets')],
    ['stopped', { messagesPerDay: 4, newRecipientsPerDay: 5 }],
  );
  assert.equal(
    (await setMailbox(organization, { sendingMode: 'normal', budgets: { messagesPerDay: null } })).status,
    200,
  );
  const audit = await world.api.call('GET', `/api/audit?action=mailbox.brakes_changed&targetId=${mailbox.id}`, {
    as: organization.owner.session,
  });
  assert.equal(Object.values(at(audit.body, 'data') as object).length, tighter.length + 1);
  assert.deepEqual(at(audit.body, 'data', 0, 'details', 'before', 'mode'), 'stopped');
});

test('a stop while a queue is being sent: nothing is sent after its answer, and everything once the stop ends', {
  timeout: 600_000,
}, async () => {
  const organization = await newOrganization();
  const { mailbox } = organization;
  const subject = 'In the queue';
  const count = 80;
  const several = async (entry: SendingEntryPoint) => {
    const answers: Answered[] = [];
    for (let i = 0; i < count / 8; i++) answers.push(await world.send(entry, mailbox, { to: [stranger()], subject }));
    return answers;
  };
  // Four clients of each kind; a mailbox has few connections.
  const clients = SENDING_ENTRY_POINTS.flatMap((entry) => Array.from({ length: 4 }, () => several(entry)));
  const sent = (await Promise.all(clients)).flat();
  for (const answer of sent) assert.equal(answer.kind, 'accepted', answer.words);
  const scheduled = await world.api.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [stranger()], subject: 'Later', text: 'x', sendAt: new Date(Date.now() + 60_000).toISOString() },
  });
  const laterId = textAt(scheduled.body, 'id');
  await waitUntil('some of it to arrive', () => arrived(subject) >= 5, PATIENCE_MS);
  await setOrganization(organization, { sendingStopped: true });
  const atTheStop = arrived(subject);
  assert.ok(atTheStop < count, 'the stop came while there was a queue');
  // Its time is there while the stop lasts.
  await world.api.sql(`update outbound_message set send_at = now() where id = $1`, [laterId]);
  await world.api.temporal.client.workflow.getHandle(`outbound/${laterId}`).signal('decide');
  await waitUntil(
    'every workflow to have seen the stop',
    async () => {
      const rows = await world.api.sql(
        `select 1 from outbound_message where organization_id = $1 and state <> 'done' and stopped_at is null`,
        [organization.id],
      );
      return rows.length === 0;
    },
    PATIENCE_MS,
  );
  const other = await newOrganization();
  const beside = await world.send('REST', other.mailbox, { to: [stranger()], subject: 'Beside' });
  await world.reaches(other.mailbox, beside.id, 'sent');
  assert.equal(arrived(subject), atTheStop, 'nothing left after the answer');
  assert.equal(arrived('Later'), 0);

  const waiting = sent.map(({ id }) => id);
  const [stopped] = await world.api.sql(
    `select id from outbound_message where id = any($1::text[]) and state = 'sending' limit 1`,
    [waiting],
  );
  const status = await world.api.call('GET', `/api/mailbox/messages/${String(stopped?.['id'])}/status`, {
    as: mailbox.token,
  });
  assert.match(textAt(status.body, 'stopped'), /^A person stopped all sending/);
  const sending = await world.api.call('GET', '/api/organization/sending', { as: organization.key });
  assert.deepEqual([at(sending.body, 'stopped'), at(sending.body, 'messagesStopped')], [true, count - atTheStop + 1]);

  await setOrganization(organization, { sendingStopped: false });
  await waitUntil('all of it to arrive', () => arrived(subject) === count && arrived('Later') === 1, PATIENCE_MS);
  const twice = Map.groupBy(
    relay.received.filter(({ bytes }) => bytes.includes(`Subject: ${subject}`)),
    ({ to }) => to[0],
  );
  assert.equal(twice.size, count, 'each once');
});

test('a message that is approved during a stop waits for its end, also when the signal to its workflow is lost', async () => {
  const organization = await newOrganization();
  const { mailbox, member } = organization;
  await setOrganization(organization, { outboundConsent: 'first_contact' });
  const held = await world.send('REST', mailbox, { to: [stranger()], subject: 'Approved meanwhile' });
  assert.equal(held.kind, 'held');
  await setMailbox(organization, { sendingMode: 'stopped' });
  const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
    as: member.session,
    body: { scope: 'message' },
  });
  assert.equal(approved.status, 200, approved.text);
  await world.reaches(mailbox, held.id, 'scheduled');
  assert.equal(arrived('Approved meanwhile'), 0);
  // As a process that dies behind the commit leaves it: the mode is changed, and nobody woke the workflow.
  await world.api.sql(`update mailboxes set sending_mode = 'normal' where id = $1`, [mailbox.id]);
  await world.api.sql(`update outbound_message set due_at = now() where id = $1`, [held.id]);
  await world.reaches(mailbox, held.id, 'sent');
});

test('a budget of messages: of a race by both protocols and two processes exactly as many pass, the rest is held', async () => {
  const organization = await newOrganization();
  const { mailbox, member } = organization;
  const budget = 7;
  await setMailbox(organization, { budgets: { messagesPerDay: budget } });
  const known = stranger();
  const second = await logIn(
    { host: '127.0.0.1', port: secondMailPort },
    { address: mailbox.address, token: passwordOf(mailbox) },
  );
  const bySecond = async () => {
    const words: string[] = [];
    for (let i = 0; i < 6; i++)
      words.push(
        await second.send(mailbox.address, [known], `From: ${mailbox.address}\nTo: ${known}\nSubject: Race\n\nx\n`),
      );
    return words.map((text) => (/held for consent/.test(text) ? 'held' : /accepted/.test(text) ? 'accepted' : text));
  };
  const bySelf = SENDING_ENTRY_POINTS.flatMap((entry) =>
    Array.from({ length: 6 }, () => world.send(entry, mailbox, { to: [known], subject: 'Race' })),
  );
  const [first, other] = await Promise.all([Promise.all(bySelf), bySecond()]);
  second.close();
  const kinds = [...first.map(({ kind }) => kind), ...other];
  assert.deepEqual(
    [kinds.filter((kind) => kind === 'accepted').length, kinds.filter((kind) => kind === 'held').length],
    [budget, kinds.length - budget],
    JSON.stringify(kinds),
  );
  await waitUntil('what passed to arrive', () => arrived('Race') === budget, PATIENCE_MS);
  assert.deepEqual(at(await mailboxOf(organization), 'today'), {
    sent: budget,
    newRecipients: 1,
    received: 0,
    held: kinds.length - budget,
  });

  const held = first.find(({ kind }) => kind === 'held');
  assert.ok(held !== undefined, 'some of those by this process were held');
  assert.match(held.words, /over its budget/);
  const request = await world.api.call('GET', `/api/consents/${held.consentId}/message`, { as: member.session });
  assert.equal(at(request.body, 'heldBecause', 'kind'), 'over_message_budget');
  assert.match(textAt(request.body, 'heldBecause', 'sentence'), /over its budget/);
  // A wider approval is about recipients: it releases this one alone.
  const approved = await world.api.call('POST', `/api/consents/${held.consentId}/approve`, {
    as: member.session,
    body: { scope: 'address' },
  });
  assert.equal(approved.status, 200, approved.text);
  await world.reaches(mailbox, held.id, 'sent');
  assert.deepEqual(at(await mailboxOf(organization), 'today'), {
    sent: budget + 1,
    newRecipients: 1,
    received: 0,
    held: kinds.length - budget - 1,
  });
  assert.equal((await world.send('REST', mailbox, { to: [known] })).kind, 'held', 'the budget is used up');
});

test('a budget of new recipients of the organization counts each once, over its mailboxes; known ones are free', async () => {
  const organization = await newOrganization();
  const second = await world.api.newMailbox(organization);
  await setOrganization(organization, { dailyNewRecipients: 5 });
  const race = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      world.send('REST', i % 2 === 0 ? organization.mailbox : second, { to: [stranger()] }),
    ),
  );
  const passed = race.filter(({ kind }) => kind === 'accepted');
  assert.equal(passed.length, 5);
  const [row] = await world.api.sql(`select address from outbound_recipient where message_id = $1`, [passed[0]?.id]);
  const again = await world.send('SMTP', second, { to: [String(row?.['address'])] });
  assert.equal(again.kind, 'accepted', 'somebody who was written to before');
  const within = await world.send('SMTP', second, { to: [organization.mailbox.address] });
  assert.equal(within.kind, 'accepted', 'a mailbox of the organization');
  assert.equal((await world.send('SMTP', second, { to: [stranger()] })).kind, 'held');
  const sending = await world.api.call('GET', '/api/organization/sending', { as: organization.key });
  assert.deepEqual(at(sending.body, 'today', 'newRecipients'), 5);
});
