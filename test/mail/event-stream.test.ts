/** The changes of a mailbox as server-sent events. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { STREAM_EVENTS } from '#api/events/stream.ts';
import { startApi } from '#api/start.ts';
import { STREAM_HEARTBEAT_MS } from '#domain/mail/mail-limits.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { pruneMailStore } from '#mailstore/upkeep/housekeeping.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  checkSchema,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let mail: MailListeners;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub({}) });
});
after(async () => {
  await mail.close();
  await world.close();
});

const newBox = () => world.newMailbox(world.organization);
async function deliver(box: TestMailbox, ...messages: string[]): Promise<string[]> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const ids: string[] = [];
  for (const message of messages) {
    const reply = await client.send('bob@example.com', [box.address], message);
    ids.push(/msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply));
  }
  client.close();
  return ids;
}

interface StreamEvent {
  readonly name: string;
  readonly id: string | null;
  readonly data: unknown;
}

interface Stream {
  readonly headers: Headers;
  /** Id of the last event, or of the beginning. */
  lastId(): string | null;
  /** The next event; undefined at the end. */
  next(): Promise<StreamEvent | undefined>;
  close(): void;
}

async function open(
  box: TestMailbox,
  { from = world.api.url, lastEventId = '', as = box.token, path = '/api/mailbox/events/stream' } = {},
): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(new URL(path, from), {
    headers: {
      ...as,
      'accept-encoding': 'br, gzip',
      ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
    },
    signal: controller.signal,
  });
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let lastId: string | null = null;
  const block = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const found = text.slice(0, end);
        text = text.slice(end + 2);
        return found;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  const stream: Stream = {
    headers: response.headers,
    lastId: () => lastId,
    async next() {
      for (;;) {
        const found = await block();
        if (found === undefined) return undefined;
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(found)?.[1];
        const id = field('id') ?? null;
        lastId = id ?? lastId;
        const name = field('event');
        if (name === undefined) continue;
        const data: unknown = JSON.parse(field('data') ?? 'null');
        checkSchema(Reflect.get(STREAM_EVENTS, name), data, name);
        return { name, id, data };
      }
    },
    close: () => controller.abort(),
  };
  // The first block says where it begins.
  const first = await block();
  lastId = /^id: (\d+)$/m.exec(first ?? '')?.[1] ?? assert.fail(first);
  return stream;
}

/** Ids of the messages an event is about. */
function idsOf(event: StreamEvent | undefined): string[] {
  assert.ok(event !== undefined, 'the stream ended');
  if (event.name === 'messages_removed') return Object.values(Object(at(event.data, 'messageIds')));
  return Object.values(Object(at(event.data, 'messages'))).map((each) => textAt(each, 'id'));
}
const summaryOf = (event: StreamEvent | undefined) => [event?.name, at(event?.data, 'folder'), idsOf(event)];

describe('the event stream', () => {
  test('reports arrivals, flags, moves and removals as they happen, not compressed, with rising ids', async () => {
    const box = await newBox();
    const stream = await open(box);
    assert.equal(stream.headers.get('content-encoding'), null);
    assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
    const [id = ''] = await deliver(box, letter('News'));
    const change = (method: string, query: string, body?: object) =>
      world.call(method, `/api/mailbox/messages/${id}${query}`, {
        as: box.token,
        ...(body === undefined ? {} : { body }),
      });
    const added = await stream.next();
    assert.deepEqual(summaryOf(added), ['messages_added', 'INBOX', [id]]);
    assert.equal(at(added?.data, 'messages', 0, 'subject'), 'News');
    await change('PATCH', '', { labels: ['seen-by-agent'] });
    const flagged = await stream.next();
    assert.deepEqual(summaryOf(flagged), ['messages_changed', 'INBOX', [id]]);
    assert.deepEqual(at(flagged?.data, 'messages', 0, 'labels'), ['seen-by-agent']);
    await change('PATCH', '', { folder: 'Archive' });
    assert.deepEqual(summaryOf(await stream.next()), ['messages_added', 'Archive', [id]]);
    assert.deepEqual(summaryOf(await stream.next()), ['messages_removed', 'INBOX', [id]]);
    await change('DELETE', '?permanent=true');
    const removed = await stream.next();
    assert.deepEqual(summaryOf(removed), ['messages_removed', 'Archive', [id]]);
    assert.ok(Number(removed?.id) > Number(added?.id));
    stream.close();
  });

  test('resumes after Last-Event-ID at another process, without a gap, while mail arrives', async () => {
    const box = await newBox();
    const another = await startApi(world.services, world.temporal);
    try {
      const writing = Promise.all(
        Array.from({ length: 3 }, (_, w) =>
          deliver(box, ...Array.from({ length: 10 }, (__, i) => letter(`${w}.${i}`))),
        ),
      );
      const seen: string[] = [];
      let stream = await open(box, { lastEventId: '0' });
      for (let round = 0; seen.length < 30; round++) {
        seen.push(...idsOf(await stream.next()));
        if (round % 4 !== 3) continue;
        const lastEventId = stream.lastId() ?? '';
        stream.close();
        stream = await open(box, { from: round % 8 === 3 ? another.url : world.api.url, lastEventId });
      }
      stream.close();
      const sent = (await writing).flat();
      const byText = (a: string, b: string) => (a < b ? -1 : 1);
      assert.deepEqual(seen.toSorted(byText), sent.toSorted(byText));
    } finally {
      await another.close();
    }
  });

  test('sends resync if older changes have been deleted, and continues from now', async () => {
    const box = await newBox();
    await deliver(box, letter('old'), letter('older'));
    await world.sql(`update change_log set created_at = now() - interval '31 days' where mailbox_id = $1`, [box.id]);
    await pruneMailStore(world.services.db);
    for (const lastEventId of ['0', '1', '999999']) {
      const stream = await open(box, { lastEventId });
      const first = await stream.next();
      assert.equal(first?.name, 'resync', lastEventId);
      assert.equal(first?.id, '2');
      stream.close();
    }
    const stream = await open(box, { lastEventId: '2' });
    const [id] = await deliver(box, letter('new'));
    assert.deepEqual(summaryOf(await stream.next()), ['messages_added', 'INBOX', [id]]);
    stream.close();
    const wrong = await world.call('GET', '/api/mailbox/events/stream', {
      as: box.token,
      headers: { 'last-event-id': 'x' },
    });
    assert.equal(errorCode(wrong), 'invalid_request');
  });

  test('reports a change of many messages in several events, of which the last has the id', async () => {
    const box = await newBox();
    const ids = await deliver(box, ...Array.from({ length: 130 }, (_, i) => letter(`${i}`)));
    const before = await open(box);
    const client = await LineClient.open(mail.imap.port, { secure: true });
    await client.line();
    const password = (box.token['authorization'] ?? '').replace('Bearer ', '');
    client.send(`a LOGIN ${box.address} "${password}"\r\nb SELECT INBOX\r\nc STORE 1:* +FLAGS.SILENT (\\Seen)\r\n`);
    for (let line = await client.line(); !line?.startsWith('c '); line = await client.line()) assert.ok(line);
    client.close();
    const [first, second] = [await before.next(), await before.next()];
    assert.deepEqual([idsOf(first).length, first?.id], [100, null]);
    assert.deepEqual([idsOf(second).length, second?.id === null], [30, false]);
    assert.deepEqual([...idsOf(first), ...idsOf(second)], ids);
    before.close();
  });

  test('a slow reader delays nobody, and finds everything when it reads', async () => {
    const box = await newBox();
    const [slow, quick] = [await open(box), await open(box)];
    const ids = await deliver(box, ...Array.from({ length: 40 }, (_, i) => letter(`${i} ${'x'.repeat(900)}`)));
    const read = async (stream: Stream) => {
      const seen: string[] = [];
      while (seen.length < ids.length) seen.push(...idsOf(await stream.next()));
      return seen;
    };
    assert.deepEqual(await read(quick), ids);
    assert.deepEqual(await read(slow), ids);
    slow.close();
    quick.close();
  });

  for (const [what, code, end] of [
    [
      'its token is replaced',
      'unauthenticated',
      (box: TestMailbox) =>
        world.call('POST', `/api/mailboxes/${box.id}/rotate-token`, { as: world.organization.key, body: {} }),
    ],
    [
      'the mailbox is suspended',
      'forbidden',
      (box: TestMailbox) =>
        world.call('PATCH', `/api/mailboxes/${box.id}`, { as: world.organization.key, body: { status: 'suspended' } }),
    ],
    [
      'the mailbox is deleted',
      'unauthenticated',
      (box: TestMailbox) => world.call('DELETE', `/api/mailboxes/${box.id}`, { as: world.organization.key }),
    ],
  ] as const)
    test(`ends with a closed event when ${what}`, async () => {
      const box = await newBox();
      const stream = await open(box);
      await end(box);
      const last = await stream.next();
      assert.deepEqual([last?.name, at(last?.data, 'code')], ['closed', code]);
      assert.equal(await stream.next(), undefined);
    });

  test('ends when its API key is revoked, also in a busy mailbox', async () => {
    const box = await newBox();
    const key = await world.newKey(world.organization.id, ['mailbox:read']);
    const stream = await open(box, { as: key, path: `/api/mailboxes/${box.id}/events/stream` });
    const [id] = await deliver(box, letter('Busy'));
    await stream.next();
    await world.sql(`delete from api_keys where id = (select max(id) from api_keys where organization_id = $1)`, [
      world.organization.id,
    ]);
    let seen = false;
    const closed = await waitUntil(
      'the last event',
      async () => {
        seen = !seen;
        await world.call('PATCH', `/api/mailbox/messages/${id}`, { as: box.token, body: { seen } });
        const event = await stream.next();
        return event?.name === 'messages_changed' ? undefined : event;
      },
      STREAM_HEARTBEAT_MS * 4,
    );
    assert.deepEqual([closed.name, at(closed.data, 'code')], ['closed', 'unauthenticated']);
    stream.close();
  });

  test('ends when the server stops, which does not wait for it', async () => {
    const another = await startApi(world.services, world.temporal);
    const stream = await open(await newBox(), { from: another.url });
    await another.close();
    assert.equal(await stream.next(), undefined);
  });
});
