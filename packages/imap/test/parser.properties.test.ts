/** Whatever bytes come in whatever pieces: the same commands, within limits, and never a crash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { COMMANDS } from '#imap/command-table.ts';
import { DEFAULT_IMAP_LIMITS } from '#imap/limits.ts';
import { CommandReader, discardMessages, type Incoming } from '#imap/wire/command-reader.ts';
import { Scanner, SyntaxProblem } from '#imap/wire/parser.ts';
import { Tokenizer } from '#imap/wire/transport.ts';
import { ADDRESS, connect, loggedIn, TOKEN } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

/** More for a hunt: `TEST_PARSER_RUNS=5000 npm test -- test/mail/imap/parser.properties.test.ts`. */
const RUNS = Number(process.env['TEST_PARSER_RUNS'] ?? 150);

const LIMITS = {
  ...DEFAULT_IMAP_LIMITS,
  lineMaxBytes: 200,
  literalMaxBytes: 50,
  literalsPerCommandMaxBytes: 100,
  messageMaxBytes: 100,
  absurdLiteralBytes: 1_000,
};

/** Reads everything from pieces of a stream. */
async function readAll(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const tokenizer = new Tokenizer(LIMITS.lineMaxBytes);
  const store = new MemoryStore();
  const waiting = [...pieces];
  const seen: unknown[] = [];
  const reader = new CommandReader(
    tokenizer,
    {
      store,
      folderSelected: true,
      requireClient: () => {},
      continuation: () => seen.push('+'),
      async moreInput() {
        const piece = waiting.shift();
        if (piece === undefined) return false;
        tokenizer.push(piece);
        assert.ok(tokenizer.buffered <= LIMITS.lineMaxBytes + 64 + piece.length * 2 + 100_000, 'the buffer grows');
        return true;
      },
    },
    LIMITS,
  );
  for (;;) {
    const incoming: Incoming = await reader.next();
    if (incoming.kind === 'command') {
      const literals: string[] = [];
      for (const literal of incoming.literals)
        literals.push(
          Buffer.from(literal.kind === 'memory' ? literal.bytes : await literal.message.bytes()).toString('latin1'),
        );
      await discardMessages(incoming.literals);
      seen.push([incoming.text, literals]);
    } else seen.push(incoming);
    if (incoming.kind === 'ended' || incoming.kind === 'hopeless') break;
  }
  assert.equal(store.openSpools, 0);
  return seen;
}

function cut(bytes: Buffer, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
}

const literal = fc
  .tuple(fc.string({ maxLength: 70 }), fc.constantFrom('', '+'), fc.constantFrom('', '~'))
  .map(([text, plus, tilde]) => `${tilde}{${Buffer.byteLength(text)}${plus}}\r\n${text}`);
const word = fc.constantFrom(
  ...[
    ...COMMANDS.keys(),
    'UID',
    '(',
    ')',
    '1:*',
    '"a b"',
    '\\Seen',
    'INBOX',
    'BODY[1.MIME]<0.5>',
    '$',
    'RETURN',
    'NOT',
  ],
);
const commandText = fc
  .array(fc.oneof(word, literal, fc.string({ maxLength: 250 })), { minLength: 1, maxLength: 8 })
  .map((words) => `t1 ${words.join(' ')}\r\n`);
const stream = fc
  .array(fc.oneof({ weight: 4, arbitrary: commandText }, { weight: 1, arbitrary: fc.string({ maxLength: 400 }) }), {
    maxLength: 6,
  })
  .map((texts) => Buffer.from(texts.join(''), 'utf8'));

test('any cutting of the stream gives the same commands', async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(4_000), { maxLength: 40 }), async (bytes, places) => {
      assert.deepEqual(await readAll(cut(bytes, places)), await readAll([bytes]));
    }),
    { numRuns: RUNS * 2 },
  );
});

test('byte by byte gives the same commands', async () => {
  await fc.assert(
    fc.asyncProperty(stream, async (bytes) => {
      const single = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1));
      assert.deepEqual(await readAll(single), await readAll([bytes]));
    }),
    { numRuns: 60 },
  );
});

test('the tokenizer keeps no more of an endless line than its limit', () => {
  const tokenizer = new Tokenizer(1_000);
  for (let i = 0; i < 1_000; i++) {
    tokenizer.push(Buffer.alloc(1_000, 'x'));
    assert.equal(tokenizer.nextLine(), undefined);
    assert.ok(tokenizer.buffered <= 1_100);
  }
  tokenizer.push(Buffer.from('{5}\r\n'));
  const line = tokenizer.nextLine();
  assert.equal(line?.tooLong, true);
  assert.equal(line.literal?.size, 5);
});

test('arguments of every command are read or refused, never anything else', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...COMMANDS.values()),
      fc.array(fc.oneof(word, fc.string({ maxLength: 20, unit: 'binary-ascii' })), { maxLength: 8 }),
      fc.boolean(),
      (command, words, uid) => {
        const scan = new Scanner(` ${words.join(' ')}`, []);
        try {
          command.prepare(scan, { uid, utf8: false });
        } catch (error) {
          assert.ok(error instanceof SyntaxProblem, String(error));
        }
      },
    ),
    { numRuns: RUNS * 20 },
  );
});

const SEEDS = [
  'SELECT INBOX',
  'EXAMINE INBOX (QRESYNC (1600000000 1 1:5 (1:2 1:2)))',
  'FETCH 1:* (FLAGS BODY[HEADER.FIELDS (To "x")]<0.10> BINARY.SIZE[1] PREVIEW (LAZY)) (CHANGEDSINCE 1)',
  'UID FETCH 1:* (UID BODY.PEEK[1.1.MIME])',
  'SEARCH RETURN (MIN SAVE) CHARSET UTF-8 OR NOT 1:2 (SUBJECT "x" SINCE 1-Feb-2020) LARGER 5',
  'SORT (REVERSE DATE SUBJECT) UTF-8 ALL',
  'THREAD REFERENCES UTF-8 ALL',
  'STORE 1 (UNCHANGEDSINCE 4) +FLAGS.SILENT (\\Seen work)',
  'LIST (SUBSCRIBED RECURSIVEMATCH) "" (INBOX % "a*") RETURN (CHILDREN STATUS (MESSAGES SIZE))',
  'APPEND INBOX (\\Seen) "07-Feb-1994 21:52:25 -0800" {3+}\r\nabc',
  'UID REPLACE 1 INBOX {3+}\r\nabc',
  'COPY 1:2 Trash',
  'UID MOVE 1 Archive',
  'STATUS INBOX (MESSAGES DELETED-STORAGE RECENT)',
  'CREATE "x/y" (USE (\\Sent))',
  'ENABLE CONDSTORE QRESYNC IMAP4rev2 UTF8=ACCEPT',
  'ID ("name" "x")',
  'GETQUOTAROOT INBOX',
  'RENAME INBOX old',
  'UID EXPUNGE 1:*',
  'XLIST "" *',
  'LSUB "" %',
];

test('mutated commands get an answer or a BAD, and the connection stays open or ends with BYE', async () => {
  const mutation = fc.record({
    seed: fc.constantFrom(...SEEDS),
    at: fc.nat(120),
    remove: fc.nat(6),
    insert: fc.oneof(fc.constant(''), fc.string({ maxLength: 4 }), fc.constantFrom('(', ')', '"', '{', '\0', '*', '[')),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 12 }), async (mutations) => {
      const store = new MemoryStore();
      for (let i = 0; i < 4; i++) store.deliver('INBOX', note(`s${i}`));
      const client = await loggedIn(store, { limits: { badCommandsMax: 1_000 } });
      await client.command('s0', 'SELECT INBOX');
      for (const [i, { seed, at, remove, insert }] of mutations.entries()) {
        const text = `${seed.slice(0, at)}${insert}${seed.slice(at + remove)}`;
        // A literal announced by the mutation would swallow what follows.
        if (seed.includes('{') && at + remove > seed.indexOf('{')) continue;
        if (/[\r\n]/.test(insert) || (/\{\d*\+?\}$/.test(text) && !seed.includes('{'))) continue;
        const lines = await client.command(`t${i}`, text.replace(/\{\d+\+?\}(?=\r\n)/, '{3+}'));
        const last = lines.at(-1) ?? '';
        assert.ok(!last.includes('SERVERBUG'), `${text} → ${last}`);
        if (client.ended) break;
      }
      await client.close();
      assert.equal(store.openSpools, 0);
      assert.equal(store.watchers, 0);
    }),
    { numRuns: RUNS },
  );
});

test('random bytes before and after login end in answers, not in a crash', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), fc.boolean(), async (bytes, early) => {
      const store = new MemoryStore();
      const client = early ? await connect(store) : await loggedIn(store);
      client.socket.write(bytes);
      client.socket.write('\r\n');
      client.socket.end();
      await client.connection.done;
      assert.equal(store.openSpools, 0);
    }),
    { numRuns: RUNS },
  );
});

/** A change of some bytes of a stream. */
const damage = fc.record({
  at: fc.nat(),
  remove: fc.nat(12),
  insert: fc.oneof(
    fc.constant(''),
    fc.string({ maxLength: 6, unit: 'binary-ascii' }),
    fc.constantFrom(
      '\r\n',
      '{5}\r\n',
      '{5+}\r\n',
      '{99999+}\r\n',
      '~{4+}\r\n',
      '(',
      ')',
      '"',
      '\0',
      'x '.repeat(5_000),
    ),
  ),
});

test('whole dialogues, damaged anywhere and cut anyhow, end in answers, in order, and never in a hang', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...SEEDS, 'IDLE\r\nDONE', 'NOOP', 'CLOSE', 'LOGOUT'), { maxLength: 12 }),
      fc.array(damage, { maxLength: 6 }),
      fc.array(fc.nat(3_000), { maxLength: 12 }),
      fc.boolean(),
      async (commands, damages, places, isEarly) => {
        const store = new MemoryStore();
        for (let i = 0; i < 3; i++) store.deliver('INBOX', note(`s${i}`));
        const client = isEarly ? await connect(store) : await loggedIn(store);
        let text = `${isEarly ? `t0 LOGIN ${ADDRESS} ${TOKEN}\r\n` : ''}t1 SELECT INBOX\r\n`;
        for (const [i, command] of commands.entries()) text += `t${i + 2} ${command}\r\n`;
        for (const { at, remove, insert } of damages) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + insert + text.slice(place + remove);
        }
        for (const piece of cut(Buffer.from(text, 'latin1'), places)) {
          client.socket.write(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        client.socket.end();
        await client.connection.done;
        const answered: number[] = [];
        for (let line = await client.line(); line !== undefined; line = await client.line()) {
          assert.ok(!line.includes('SERVERBUG'), `${JSON.stringify(text)} → ${line}`);
          const tag = /^t(\d+) (?:OK|NO|BAD) /.exec(line)?.[1];
          if (tag !== undefined) answered.push(Number(tag));
        }
        if (damages.length === 0 && !commands.includes('LOGOUT'))
          assert.deepEqual(
            answered,
            [...(isEarly ? [0] : []), ...commands.map((_, i) => i + 2), 1].toSorted((a, b) => a - b),
          );
        assert.equal(store.openSpools, 0);
        assert.equal(store.watchers, 0);
      },
    ),
    { numRuns: RUNS },
  );
});

test('input is read only a little ahead of the current command, whatever a client sends', async () => {
  const store = new MemoryStore();
  const client = await loggedIn(store);
  let goOn: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const { quota } = store;
  store.quota = async () => {
    await stuck;
    return quota.call(store);
  };
  // As a socket hands them over.
  const piece = Buffer.from('n NOOP\r\n'.repeat(2_000));
  client.send('g GETQUOTA ""\r\n');
  for (let count = 0; count < 250; count++) client.socket.write(piece);
  for (let turns = 0; turns < 1_000; turns++) await new Promise((resolve) => setImmediate(resolve));
  const taken = 250 * piece.length - client.socket.writableLength;
  assert.ok(taken < 1_000_000, `${taken} bytes were taken`);
  goOn();
  assert.match((await client.line()) ?? '', /^\* QUOTA/);
  await client.close();
});

test('an endless line and an endless unwanted literal are discarded as they arrive', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const memory = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  for (const beginning of ['x NOOP ', 'x SEARCH SUBJECT {100000000+}\r\n']) {
    const client = await loggedIn(new MemoryStore());
    const before = memory();
    client.send(beginning);
    const piece = Buffer.alloc(100_000, 'y');
    let most = 0;
    for (let sent = 0; sent < 60_000_000; sent += piece.length) {
      if (!client.socket.write(piece)) await new Promise((resolve) => client.socket.once('drain', resolve));
      if (sent % 5_000_000 === 0) most = Math.max(most, memory() - before);
    }
    assert.ok(most < 15_000_000, `${beginning}: ${most} bytes were held`);
    await client.close();
  }
});

test('pipelined commands are answered in order', async () => {
  const client = await connect(new MemoryStore());
  client.send(
    `1 LOGIN ${ADDRESS} ${TOKEN}\r\n2 NOOP\r\n3 SELECT INBOX\r\n4 STATUS Sent (MESSAGES)\r\n5 CLOSE\r\n6 LOGOUT\r\n`,
  );
  const tags: string[] = [];
  for (let line = await client.line(); line !== undefined; line = await client.line())
    if (/^\d /.test(line)) tags.push(line.slice(0, 4));
  assert.deepEqual(tags, ['1 OK', '2 OK', '3 OK', '4 OK', '5 OK', '6 OK']);
  await client.close();
});
