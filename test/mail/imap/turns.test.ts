/** Real sockets: what one connection computes without a pause, no other can be answered in. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import { serveImap } from '@agent-mailbox/imap';
import type { MessageRow } from '@agent-mailbox/mail-store';
import fc from 'fast-check';
import { pino } from 'pino';
import { sortInTurns } from '#packages/imap/src/search/take-turns.ts';
import { ADDRESS, loginTo, TOKEN } from '#packages/imap/test/dialogue.ts';
import { MemoryStore } from '#packages/imap/test/memory-store.ts';
import { LineClient } from '#test/support/line-client.ts';

const MESSAGES = 32_768;

/** INBOX with many messages of different subjects; calls back when all rows of a command have been read. */
class CrowdedStore extends MemoryStore {
  onAllRows: () => void = () => {};

  override async *rows(...asked: Parameters<MemoryStore['rows']>): AsyncGenerator<MessageRow[]> {
    for await (const rows of super.rows(...asked))
      yield rows.map((row) =>
        row.sortKeys === undefined
          ? row
          : { ...row, sortKeys: { ...row.sortKeys, subject: `subject ${(row.uid * 7_919) % 30_011}` } },
      );
    this.onAllRows();
  }
}

/** All lines up to the tagged answer, that one included. */
async function command(client: LineClient, tag: string, text: string): Promise<string[]> {
  client.send(`${tag} ${text}\r\n`);
  const lines: string[] = [];
  for (;;) {
    const line = (await client.line()) ?? assert.fail('the connection ended');
    lines.push(line);
    if (line.startsWith(`${tag} `)) return lines;
  }
}

const store = new CrowdedStore();
store.deliver('INBOX', 'Subject: one\n\nHello\n');
const server = net.createServer((socket) => {
  const log = pino({ level: 'silent' });
  serveImap(socket, {
    tls: true,
    login: loginTo(store),
    remoteAddress: '192.0.2.1',
    hostname: 'mail.test',
    messageMaxBytes: 1_000_000,
    log,
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : assert.fail('no port');
const [long, other] = await Promise.all([LineClient.open(port), LineClient.open(port)]);
for (const client of [long, other]) {
  await client.line();
  await command(client, 'l', `LOGIN ${ADDRESS} ${TOKEN}`);
}
await command(long, 's', 'SELECT INBOX');
for (let count = 1; count < MESSAGES; count *= 2) await command(long, 'c', 'COPY 1:* INBOX');
after(() => {
  long.close();
  other.close();
  server.close();
});

for (const asked of ['SORT (SUBJECT) UTF-8 ALL', 'THREAD REFERENCES UTF-8 ALL', 'THREAD ORDEREDSUBJECT UTF-8 ALL'])
  test(`another connection is answered while ${asked} is computed`, async () => {
    const order: string[] = [];
    const noop = Promise.withResolvers<void>();
    store.onAllRows = () => {
      void command(other, 'n', 'NOOP').then(() => {
        order.push('NOOP');
        noop.resolve();
      });
    };
    const lines = await command(long, 'l', asked);
    order.push('long');
    await noop.promise;
    assert.match(lines.at(-1) ?? '', /^l OK/);
    assert.equal(lines.at(-2)?.match(/\d+/g)?.length, MESSAGES);
    assert.deepEqual(order, ['NOOP', 'long']);
  });

test('another connection is answered while a long SEARCH runs over the map', async () => {
  store.onAllRows = () => {};
  const keys = Array.from({ length: 200 }, (_, i) => `NOT KEYWORD k${i}`).join(' ');
  const order: string[] = [];
  const answers = [
    command(long, 'l', `SEARCH ${keys} KEYWORD none`).then((lines) => {
      assert.deepEqual(lines, ['* SEARCH', 'l OK SEARCH completed']);
      order.push('long');
    }),
    command(other, 'n', 'NOOP').then(() => order.push('NOOP')),
  ];
  await Promise.all(answers);
  assert.deepEqual(order, ['NOOP', 'long']);
});

test('sorting in turns gives the same result as sorting at once, equal ones in their order', async () => {
  const items = fc.array(fc.record({ key: fc.nat(50), place: fc.nat() }), { maxLength: 5_000, size: 'max' });
  const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
  await fc.assert(
    fc.asyncProperty(items, async (list) => {
      assert.deepEqual(await sortInTurns(list, byKey), list.toSorted(byKey));
    }),
    { numRuns: 30 },
  );
});
