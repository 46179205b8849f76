/** The position of a stream and its content move together: nothing is passed over by a failure, a poll or a wait. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authenticate } from '#api/auth/authenticate.ts';
import { openOrganizationStream } from '#api/organization/stream.ts';
import { type ChangesRead, changesHub, type OrganizationChange } from '#core/organizations/organization-changes.ts';
import type { Database } from '#db/database.ts';
import { type ApiWorld, apiWorld, type TestOrganization } from '#test/support/api-world.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const log = testLog();
const newOrganization = () => world.newOrganization('business');
const change = ({ id }: Pick<TestOrganization, 'id'>, kind: string, subjectId: string) =>
  world.sql(
    `insert into organization_change (organization_id, kind, mailbox_id, subject_id) values ($1, $2, 'mbx_1', $3)`,
    [id, kind, subjectId],
  );

interface HeldStatements {
  readonly db: Database;
  /** Statements with this text wait from now on. @returns `reached`: one waits; `release`: they go on */
  hold(text: string): { readonly reached: Promise<void>; release(): void };
}

/** The same database, whose statements a test can delay: a busy pool, a slow disk. */
function withHeldStatements(): HeldStatements {
  let held: { text: string; reach: () => void; released: Promise<void> } | undefined;
  const { db } = world.services;
  const query: Database['query'] = async (text, values) => {
    if (held !== undefined && text.includes(held.text)) {
      held.reach();
      await held.released;
    }
    return db.query(text, values);
  };
  return {
    db: { ...db, query },
    hold(text) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { text, reach: () => reached.resolve(), released: released.promise };
      return {
        reached: reached.promise,
        release() {
          held = undefined;
          released.resolve();
        },
      };
    },
  };
}

const POLL = 'xid < p.place';
const collected = () => {
  const changes: OrganizationChange[] = [];
  return { changes, take: (read: ChangesRead) => void changes.push(...read.changes) };
};

test('changes whose messages could not be looked up are reported by a later poll', async () => {
  const organization = await newOrganization();
  let failures = 0;
  // A database of its own name, so that it has a hub of its own.
  const { db } = withHeldStatements();
  const hub = changesHub({ db, log }, async () => {
    if (failures++ === 0) throw new Error('the connection was lost');
    return ['msg_1'];
  });
  const { changes, take } = collected();
  const stop = await hub.subscribe(organization.id, take);
  await change(organization, 'messages', '1');
  await waitUntil('the messages', () => changes.some(({ messageIds }) => messageIds?.includes('msg_1')));
  assert.ok(failures > 1, 'the first look-up failed');
  stop();
});

test('a subscriber that comes during a poll of others misses nothing', async () => {
  const [first, second] = [await newOrganization(), await newOrganization()];
  const { db, hold } = withHeldStatements();
  const hub = changesHub({ db, log }, async () => undefined);
  const [ofFirst, ofSecond] = [collected(), collected()];
  const stopFirst = await hub.subscribe(first.id, ofFirst.take);
  const poll = hold(POLL);
  await poll.reached;
  const stopSecond = await hub.subscribe(second.id, ofSecond.take);
  // Committed before the poll of the others gets its snapshot.
  await change(second, 'consent', 'con_during');
  await change(first, 'consent', 'con_first');
  poll.release();
  await waitUntil('the change of the one', () => ofFirst.changes.some(({ subjectId }) => subjectId === 'con_first'));
  await change(second, 'consent', 'con_after');
  await waitUntil('a later change', () => ofSecond.changes.some(({ subjectId }) => subjectId === 'con_after'));
  assert.ok(
    ofSecond.changes.some(({ subjectId }) => subjectId === 'con_during'),
    JSON.stringify(ofSecond.changes),
  );
  stopFirst();
  stopSecond();
});

/** Opens a stream with a key, whose access is checked before each event. */
async function openStream({ key }: TestOrganization, db: Database, lastEventId?: string) {
  const services = { ...world.services, db };
  const rule = { scope: 'org:read' } as const;
  const headers = { ...key, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const { principal, organization } = await authenticate(world.services, rule, headers);
  assert.ok(organization !== undefined && organization !== null);
  const stopping = new AbortController();
  const stream = await openOrganizationStream(
    { services, organization, principal, headers, stopping: stopping.signal, onClose: () => {} },
    rule,
  );
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return {
    read: () => text,
    lastId: () =>
      text
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice('id: '.length) ?? '',
    stopping,
  };
}

test('the id of an event does not include changes that arrived while access to it was checked', async () => {
  const organization = await newOrganization();
  const { db, hold } = withHeldStatements();
  const stream = await openStream(organization, db);
  await waitUntil('the first id', () => stream.lastId() !== '');
  const access = hold('api_keys');
  await change(organization, 'consent', 'con_1');
  await access.reached;
  // The hub of this stream receives it while the first event waits for its check.
  const other = collected();
  const stop = await changesHub({ db, log }, async () => undefined).subscribe(organization.id, other.take);
  await change(organization, 'consent', 'con_2');
  await waitUntil('the poll', () => other.changes.some(({ subjectId }) => subjectId === 'con_2'));
  access.release();
  await waitUntil('the first event', () => stream.read().includes('con_1'));
  // A client that loses the connection directly after the event with con_1.
  const [, upToFirst = ''] = /^([\s\S]*?con_1[\s\S]*?\n\n)/.exec(stream.read()) ?? [];
  const lastEventId = upToFirst
    .match(/^id: .*$/gm)
    ?.at(-1)
    ?.slice('id: '.length);
  stream.stopping.abort();
  stop();
  if (upToFirst.includes('con_2')) return;
  const resumed = await openStream(organization, world.services.db, lastEventId);
  await change(organization, 'consent', 'con_3');
  await waitUntil('the change after it', () => resumed.read().includes('con_3'));
  assert.ok(resumed.read().includes('con_2'), 'nothing is between the event and the stream that continues after it');
  resumed.stopping.abort();
});

test('the first id of a stream that continues is the one that it continues after', async () => {
  const organization = await newOrganization();
  const begun = await openStream(organization, world.services.db);
  await waitUntil('the first id', () => begun.lastId() !== '');
  const lastEventId = begun.lastId();
  begun.stopping.abort();
  await change(organization, 'consent', 'con_before');
  const resumed = await openStream(organization, world.services.db, lastEventId);
  await waitUntil('the first id', () => resumed.lastId() !== '');
  assert.equal(/^id: (.*)$/m.exec(resumed.read())?.[1], lastEventId, 'its changes are not sent yet');
  await waitUntil('the change', () => resumed.read().includes('con_before'));
  resumed.stopping.abort();
});
