/** Whatever bytes come in whatever pieces: the same commands, within limits, and never a crash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CommandReader, discardMessages, type Incoming } from '../../../mail/imap/command-reader.ts';
import { COMMANDS } from '../../../mail/imap/command-table.ts';
import { DEFAULT_IMAP_LIMITS } from '../../../mail/imap/limits.ts';
import { Scanner, SyntaxProblem } from '../../../mail/imap/parser.ts';
import { Tokenizer } from '../../../mail/imap/tokenizer.ts';
import { ADDRESS, connect, loggedIn, TOKEN } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

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
    { numRuns: 300 },
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
    { numRuns: 3_000 },
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

test('mutated commands get an answer or a BAD, and the connection lives or says BYE', async () => {
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
    { numRuns: 150 },
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
    { numRuns: 200 },
  );
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
