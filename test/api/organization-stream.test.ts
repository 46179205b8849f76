/** What changes in an organization, as server-sent events. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApi } from '#api/start.ts';
import { openServices } from '#core/platform/process/services.ts';
import { writeRestoreState } from '#core/platform/settings/restore-state.ts';
import {
  ORGANIZATION_CHANGE_RETENTION_DAYS,
  ORGANIZATION_STREAMS_PER_PRINCIPAL_MAX,
} from '#domain/webhooks/organization-stream.ts';
import {
  type ApiWorld,
  apiWorld,
  asKey,
  at,
  type Credential,
  errorCode,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATH = '/api/organization/events/stream';
const SECRET_WORDS = 'Words that stay in the mail';
const PATIENCE_MS = 60_000;

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

interface Stream {
  readonly events: StreamEvent[];
  text(): string;
  lastId(): string;
  /** Waits for an event with this name that is about an id. */
  about(name: string, id: string): Promise<StreamEvent>;
  readonly ended: Promise<void>;
  close(): void;
}

async function open(as: Credential, { lastEventId = '', from = world.api.url } = {}): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(new URL(PATH, from), {
    headers: { ...as, ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }) },
    signal: controller.signal,
  });
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  const events: StreamEvent[] = [];
  let [text, lastId] = ['', ''];
  const read = async () => {
    let rest = '';
    const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      rest += value;
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
        const lines = rest.slice(0, end).split('\n');
        rest = rest.slice(end + 2);
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        lastId = field('id') ?? lastId;
        const name = field('event');
        if (name !== undefined) events.push({ name, data: JSON.parse(field('data') ?? 'null') });
      }
    }
  };
  const ended = read().catch(() => {});
  await waitUntil('the beginning of the stream', () => lastId !== '');
  return {
    events,
    text: () => text,
    lastId: () => lastId,
    about: (name, id) =>
      waitUntil(
        `${name} about ${id}`,
        () => events.find((each) => each.name === name && JSON.stringify(each.data).includes(id)),
        PATIENCE_MS,
      ),
    ended,
    close: () => controller.abort(),
  };
}

const newOrganization = () => world.newOrganization('business');

/** A mail to the mailbox itself. @returns its id in the mailbox */
async function ownMail({ mailbox }: TestOrganization): Promise<string> {
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: [mailbox.address], subject: SECRET_WORDS, text: SECRET_WORDS },
  });
  assert.equal(sent.status, 201, sent.text);
  return textAt(sent.body, 'id');
}

async function held({ mailbox }: TestOrganization): Promise<string> {
  const sent = await world.call('POST', '/api/mailbox/messages', {
    as: mailbox.token,
    body: { to: ['stranger@outside.example'], subject: SECRET_WORDS, text: SECRET_WORDS },
  });
  assert.equal(sent.status, 202, sent.text);
  return textAt(sent.body, 'consentId');
}

async function change(as: Credential, method: string, path: string, body: object, status = 200): Promise<unknown> {
  const answer = await world.call(method, path, { as, body });
  assert.equal(answer.status, status, answer.text);
  return answer.body;
}

test('a stream reports changes by name and id to members and keys, and nothing to other organizations', async () => {
  const organization = await newOrganization();
  const { mailbox, key, owner } = organization;
  const streams = [await open(owner.session), await open(key)];
  const other = await open(world.other.owner.session);

  const messageId = await ownMail(organization);
  const consentId = await held(organization);
  await change(key, 'PATCH', `/api/mailboxes/${mailbox.id}`, { sendingMode: 'drafts_only' });
  await change(owner.session, 'POST', `/api/consents/${consentId}/deny`, {});
  const endpoint = await change(
    key,
    'POST',
    '/api/webhooks',
    { url: 'https://127.0.0.1/x', eventTypes: ['email_received'] },
    201,
  );
  await ownMail({ ...organization, mailbox: await world.newMailbox(organization) });
  const domain = await change(owner.session, 'POST', '/api/domains', { name: `${organization.slug}.example` }, 201);
  await change(owner.session, 'PATCH', '/api/organization', { settings: { sendingStopped: true } });

  for (const stream of streams) {
    const message = await stream.about('messages_changed', messageId);
    assert.equal(at(message.data, 'mailboxId'), mailbox.id);
    await stream.about('consent_changed', consentId);
    await stream.about('mailbox_changed', mailbox.id);
    await stream.about('outbox_changed', mailbox.id);
    await stream.about('endpoint_changed', textAt(endpoint, 'id'));
    await stream.about('deliveries_changed', textAt(endpoint, 'id'));
    await stream.about('domain_changed', textAt(domain, 'id'));
    await stream.about('organization_changed', organization.id);
    assert.ok(!stream.text().includes(SECRET_WORDS), 'no content');
    stream.close();
  }
  // Receiving its own change shows that it received nothing before.
  const [otherConsent] = [await held(world.other)];
  await other.about('consent_changed', otherConsent);
  assert.ok(!JSON.stringify(other.events).includes(mailbox.id));
  assert.deepEqual(
    [...new Set(other.events.flatMap(({ data }) => at(data, 'mailboxId') ?? []))],
    [world.other.mailbox.id],
  );
  other.close();
});

test('first logins, requests at the receiver, notices and recoveries are reported', async () => {
  const organization = await newOrganization();
  const { mailbox, key, owner } = organization;
  const stream = await open(owner.session);
  assert.equal((await world.call('GET', '/api/mailbox', { as: mailbox.token })).status, 200);
  await stream.about('login_changed', mailbox.id);
  const receiver = await change(owner.session, 'POST', '/api/receiver', {});
  await fetch(textAt(receiver, 'url'), { method: 'POST', body: '{}' });
  const [opened] = await world.sql(`select id from webhook_receiver where organization_id = $1`, [organization.id]);
  await stream.about('receiver_changed', String(opened?.['id']));
  await held(organization);
  const [notice] = await world.sql(`select id from member_notices where organization_id = $1`, [organization.id]);
  await stream.about('notice_changed', String(notice?.['id']));
  const endpoint = await change(
    key,
    'POST',
    '/api/webhooks',
    { url: 'https://127.0.0.1/x', eventTypes: ['email_received'] },
    201,
  );
  const endpointId = textAt(endpoint, 'id');
  const since = new Date(world.services.now() - 3_600_000).toISOString();
  const recovery = await change(key, 'POST', `/api/webhooks/${endpointId}/recover`, { since }, 202);
  await stream.about('recovery_changed', endpointId);
  const before = stream.events.length;
  await change(key, 'POST', `/api/webhooks/${endpointId}/recoveries/${textAt(recovery, 'id')}/cancel`, {});
  await waitUntil('the end of the recovery', () =>
    stream.events.slice(before).some(({ name }) => name === 'recovery_changed'),
  );
  stream.close();
});

test('a stream resumes after the last event at another process, and reports changes committed late', async () => {
  const organization = await newOrganization();
  const { owner, mailbox } = organization;
  const first = await open(owner.session);
  await ownMail(organization);
  await first.about('messages_changed', mailbox.id);
  const lastEventId = first.lastId();
  first.close();

  const services = await openServices(world.services.settings, testLog());
  const second = await startApi(services, world.temporal);
  try {
    const consentId = await held(organization);
    const late = await world.services.db.transaction(async (sql) => {
      await sql.query(`update mailboxes set name = 'Renamed' where id = $1`, [mailbox.id]);
      // Others commit while this is open; a reader by time or by number would pass over it.
      const meanwhile = await newOrganization();
      await held(meanwhile);
      const stream = await open(owner.session, { lastEventId, from: second.url });
      await ownMail({ ...organization, mailbox: await world.newMailbox(organization) });
      return stream;
    });
    await late.about('consent_changed', consentId);
    await late.about('mailbox_changed', mailbox.id);
    late.close();
  } finally {
    await second.close();
    await services.close();
  }
});

test('a stream begun at the position of the session misses nothing that changed after its answer', async () => {
  const organization = await newOrganization();
  const { owner } = organization;
  const session = await world.call('GET', '/api/sessions/current', { as: owner.session });
  const consentId = await held(organization);
  const stream = await open(owner.session, { lastEventId: textAt(session.body, 'changesId') });
  await stream.about('consent_changed', consentId);
  stream.close();
});

test('an id that is too old is answered by resync, and one of another stream is refused', async () => {
  const { owner } = await newOrganization();
  const stream = await open(owner.session);
  const [place] = stream.lastId().split('-');
  stream.close();
  const tooOld = Date.now() - (ORGANIZATION_CHANGE_RETENTION_DAYS * 24 + 1) * 3_600_000;
  const resumed = await open(owner.session, { lastEventId: `${place}-${tooOld}` });
  await waitUntil('resync', () => resumed.events.some(({ name }) => name === 'resync'), PATIENCE_MS);
  resumed.close();
  const refused = await world.call('GET', PATH, { as: owner.session, headers: { 'last-event-id': 'evt_1' } });
  assert.deepEqual([refused.status, errorCode(refused)], [400, 'invalid_request']);
});

test('an id from before a restore is answered by resync, because its place is one of another database', async () => {
  const { owner } = await newOrganization();
  const stream = await open(owner.session);
  const lastEventId = stream.lastId();
  stream.close();
  const state = { backupId: 'ab', phase: 'done', at: new Date(Date.now() + 60_000) } as const;
  await writeRestoreState(world.services.db, state);
  try {
    const resumed = await open(owner.session, { lastEventId });
    await waitUntil('resync', () => resumed.events.some(({ name }) => name === 'resync'), PATIENCE_MS);
    resumed.close();
  } finally {
    await world.sql(`delete from installation_setting where name = 'RESTORE'`);
  }
});

test('more changes than a stream names at once are one resync', async () => {
  const organization = await newOrganization();
  const stream = await open(organization.owner.session);
  await world.sql(
    `insert into organization_change (organization_id, kind, mailbox_id, subject_id)
     select $1, 'consent', 'mbx_' || n, 'con_' || n from generate_series(1, 3000) as n`,
    [organization.id],
  );
  await waitUntil('resync', () => stream.events.some(({ name }) => name === 'resync'), PATIENCE_MS);
  assert.ok(stream.events.length < 10, 'not one event for each of them');
  stream.close();
});

test('a stream ends with the session, the membership or the key', async () => {
  const organization = await newOrganization();
  const leaving = await world.newPerson(organization.id, 'member');
  const key = await world.newKey(organization.id, ['org:read']);
  const streams = [await open(organization.member.session), await open(leaving.session), await open(key)];
  await world.call('DELETE', '/api/sessions/current', { as: organization.member.session });
  const removed = await world.call('DELETE', `/api/members/${leaving.memberId}`, { as: organization.owner.session });
  assert.equal(removed.status, 204, removed.text);
  await world.sql(`delete from api_keys where organization_id = $1 and scopes = '{org:read}'`, [organization.id]);
  for (const { ended, events } of streams) {
    await ended;
    assert.equal(events.at(-1)?.name, 'closed');
  }
});

test('a key that becomes limited to groups gets no event of what happens after, however much it is', async () => {
  const organization = await newOrganization();
  const as = organization.admin.session;
  const body = { name: 'Whole', scopes: ['org:read'] };
  const made = await change(as, 'POST', '/api/keys', body, 201);
  const stream = await open(asKey(textAt(made, 'key')));
  let isLimited = false;
  const after: string[] = [];
  const write = async () => {
    for (let left = 4; left > 0; ) {
      const isAfter = isLimited;
      const { id } = await world.newMailbox(organization);
      if (!isAfter) continue;
      after.push(id);
      left--;
    }
  };
  const writing = [write(), write()];
  try {
    await waitUntil('an event', () => stream.events.length > 0);
    await change(as, 'PATCH', `/api/keys/${textAt(made, 'id')}`, { mailboxGroups: ['some'] });
  } finally {
    isLimited = true;
  }
  await Promise.all(writing);
  await stream.ended;
  const last = stream.events.at(-1);
  assert.deepEqual([last?.name, at(last?.data, 'code')], ['closed', 'insufficient_scope']);
  for (const id of after) assert.ok(!stream.text().includes(id));
});

test('only callers who may read the organization can open a stream, up to a maximum number', async () => {
  const organization = await newOrganization();
  const narrow = await world.newKey(organization.id, ['mailbox:read', 'mailbox:write']);
  const byNarrow = await world.call('GET', PATH, { as: narrow });
  assert.equal(errorCode(byNarrow), 'insufficient_scope');
  const byToken = await world.call('GET', PATH, { as: organization.mailbox.token });
  assert.equal(errorCode(byToken), 'forbidden');
  const streams = await Promise.all(
    Array.from({ length: ORGANIZATION_STREAMS_PER_PRINCIPAL_MAX }, () => open(organization.owner.session)),
  );
  const beyond = await world.call('GET', PATH, { as: organization.owner.session });
  assert.deepEqual([beyond.status, errorCode(beyond)], [429, 'rate_limited']);
  for (const stream of streams) stream.close();
  const again = await waitUntil('a place to be free', async () => {
    const response = await fetch(new URL(PATH, world.api.url), { headers: organization.owner.session });
    await response.body?.cancel();
    return response.status === 200;
  });
  assert.ok(again);
});
