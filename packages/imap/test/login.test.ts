/** CAPABILITY, ID, LOGIN, AUTHENTICATE, STARTTLS, ENABLE, LOGOUT, and what ends a connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { ADDRESS, Client, connect, loggedIn, loginTo, pair, play, TOKEN } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const PLAIN = base64(`\0${ADDRESS}\0${TOKEN}`);

async function talk(client: Client, script: readonly (readonly [send: string, expect: RegExp])[]): Promise<void> {
  for (const [send, expect] of script) {
    if (send !== '') client.send(`${send}\r\n`);
    assert.match((await client.line()) ?? '(end)', expect, send);
  }
}

test('the greeting contains the capabilities; they are sent again after login', async () => {
  const client = new Client(new MemoryStore());
  assert.equal(
    await client.line(),
    '* OK [CAPABILITY IMAP4rev1 IMAP4rev2 LITERAL+ SASL-IR ID ENABLE AUTH=PLAIN AUTH=LOGIN AUTH=OAUTHBEARER AUTH=XOAUTH2] mail.example.com is ready',
  );
  assert.deepEqual(await client.command('a', `LOGIN ${ADDRESS} ${TOKEN}`), [
    'a OK [CAPABILITY IMAP4rev1 IMAP4rev2 LITERAL+ SASL-IR ID ENABLE IDLE NAMESPACE CHILDREN UNSELECT UIDPLUS MOVE CONDSTORE QRESYNC ESEARCH SEARCHRES WITHIN LIST-EXTENDED LIST-STATUS SPECIAL-USE CREATE-SPECIAL-USE STATUS=SIZE QUOTA QUOTA=RES-STORAGE BINARY MULTIAPPEND OBJECTID PREVIEW SAVEDATE UTF8=ACCEPT SORT SORT=DISPLAY ESORT THREAD=REFERENCES THREAD=ORDEREDSUBJECT REPLACE COMPRESS=DEFLATE XLIST APPENDLIMIT=26214400] Logged in',
  ]);
  await client.close();
});

test('LOGIN takes atoms, quoted strings and literals; a wrong token is AUTHENTICATIONFAILED', async () => {
  const client = await connect(new MemoryStore());
  await talk(client, [
    [`a1 LOGIN ${ADDRESS} wrong`, /^a1 NO \[AUTHENTICATIONFAILED\]/],
    [`a2 LOGIN nobody@example.com ${TOKEN}`, /^a2 NO \[AUTHENTICATIONFAILED\]/],
    ['a3 SELECT INBOX', /^a3 BAD/],
    [`a4 LOGIN "${ADDRESS}" {${TOKEN.length}}`, /^\+ /],
    [TOKEN, /^a4 OK \[CAPABILITY /],
    [`a5 LOGIN ${ADDRESS} ${TOKEN}`, /^a5 BAD You are logged in already; LOGIN is possible only before login$/],
    ['a5 LOGIN', /^a5 BAD You are logged in already/],
    [`a5 AUTHENTICATE PLAIN ${PLAIN}`, /^a5 BAD You are logged in already; AUTHENTICATE /],
    ['a5 STARTTLS', /^a5 BAD You are logged in already; STARTTLS /],
    ['a5 FETCH 1 FLAGS', /^a5 BAD Select a folder first$/],
    ['a6 LOGOUT', /^\* BYE /],
    ['', /^a6 OK /],
  ]);
  assert.equal(await client.line(), undefined);
});

const AUTHENTICATIONS: readonly [name: string, script: readonly (readonly [string, RegExp])[]][] = [
  ['PLAIN with initial response', [[`a AUTHENTICATE PLAIN ${PLAIN}`, /^a OK/]]],
  [
    'PLAIN in two steps',
    [
      ['a AUTHENTICATE PLAIN', /^\+ $/],
      [PLAIN, /^a OK/],
    ],
  ],
  [
    'PLAIN cancelled',
    [
      ['a AUTHENTICATE PLAIN', /^\+ $/],
      ['*', /^a BAD/],
    ],
  ],
  ['PLAIN, empty initial response', [['a AUTHENTICATE PLAIN =', /^a NO \[AUTHENTICATIONFAILED\]/]]],
  [
    'PLAIN for another',
    [[`a AUTHENTICATE PLAIN ${base64(`other\0${ADDRESS}\0${TOKEN}`)}`, /^a NO \[AUTHENTICATIONFAILED\]/]],
  ],
  ['PLAIN for oneself', [[`a AUTHENTICATE PLAIN ${base64(`${ADDRESS}\0${ADDRESS}\0${TOKEN}`)}`, /^a OK/]]],
  [
    'PLAIN not base64',
    [
      ['a AUTHENTICATE PLAIN', /^\+ $/],
      ['%%%', /^a NO/],
    ],
  ],
  [
    'LOGIN with prompts',
    [
      ['a AUTHENTICATE LOGIN', /^\+ VXNlcm5hbWU6$/],
      [base64(ADDRESS), /^\+ UGFzc3dvcmQ6$/],
      [base64(TOKEN), /^a OK/],
    ],
  ],
  [
    'LOGIN with initial response',
    [
      [`a AUTHENTICATE LOGIN ${base64(ADDRESS)}`, /^\+ UGFzc3dvcmQ6$/],
      [base64(TOKEN), /^a OK/],
    ],
  ],
  [
    'OAUTHBEARER',
    [
      [
        `a AUTHENTICATE OAUTHBEARER ${base64(`n,a=${ADDRESS},\x01host=x\x01port=993\x01auth=Bearer ${TOKEN}\x01\x01`)}`,
        /^a OK/,
      ],
    ],
  ],
  [
    'OAUTHBEARER refused: JSON, dummy reply, NO',
    [
      [`a AUTHENTICATE OAUTHBEARER ${base64(`n,a=${ADDRESS},\x01auth=Bearer wrong\x01\x01`)}`, /^\+ eyJzdGF0dXMi/],
      ['AQ==', /^a NO \[AUTHENTICATIONFAILED\]/],
    ],
  ],
  ['XOAUTH2', [[`a AUTHENTICATE XOAUTH2 ${base64(`user=${ADDRESS}\x01auth=Bearer ${TOKEN}\x01\x01`)}`, /^a OK/]]],
  ['an unknown mechanism', [['a AUTHENTICATE CRAM-MD5', /^a NO/]]],
];
for (const [name, script] of AUTHENTICATIONS)
  test(`AUTHENTICATE: ${name}`, async () => {
    const client = await connect(new MemoryStore());
    await talk(client, script);
    await client.close();
  });

test('login needs TLS', async () => {
  const client = new Client(new MemoryStore(), { tls: false });
  await talk(client, [
    ['', /^\* OK \[CAPABILITY IMAP4rev1 IMAP4rev2 LITERAL\+ SASL-IR ID ENABLE LOGINDISABLED\]/],
    [`a1 LOGIN ${ADDRESS} ${TOKEN}`, /^a1 NO \[PRIVACYREQUIRED\]/],
    [`a2 AUTHENTICATE PLAIN ${PLAIN}`, /^a2 NO \[PRIVACYREQUIRED\]/],
    ['a3 STARTTLS', /^a3 BAD/],
  ]);
  await client.close();
});

test('STARTTLS discards plaintext input after it', async () => {
  const [near, far] = pair();
  const client = new Client(new MemoryStore(), { tls: false, startTls: async () => far });
  assert.match((await client.line()) ?? '', / STARTTLS LOGINDISABLED\]/);
  client.send(`a1 STARTTLS\r\na2 LOGIN ${ADDRESS} ${TOKEN}\r\n`);
  assert.match((await client.line()) ?? '', /^a1 OK/);
  near.on('data', (chunk: Buffer) => client.receive(chunk));
  near.write('a3 CAPABILITY\r\n');
  assert.match((await client.line()) ?? '', /^\* CAPABILITY .* AUTH=PLAIN/);
  assert.match((await client.line()) ?? '', /^a3 OK/);
  near.write('a4 STARTTLS\r\n');
  assert.match((await client.line()) ?? '', /^a4 BAD/);
  near.destroy();
  await client.close();
});

test('throttled logins and too many connections get LIMIT and BYE', async () => {
  for (const result of [
    { kind: 'throttled', retryAfterSeconds: 30 } as const,
    { kind: 'too-many-connections' } as const,
  ]) {
    const client = await connect(new MemoryStore(), { login: async () => result });
    await talk(client, [
      ['a1 LOGIN a b', /^a1 NO \[LIMIT\]/],
      ['', /^\* BYE /],
    ]);
    assert.equal(await client.line(), undefined);
  }
});

test('ID hides capabilities from a client that stumbles over them', async () => {
  const client = await loggedIn(new MemoryStore(), {
    hiding: [{ clientName: /^PhoneMail/, hide: ['CONDSTORE', 'QRESYNC'] }],
  });
  await talk(client, [
    ['a1 ID ("name" "PhoneMail 3" "version" NIL)', /^\* ID \("name" /],
    ['', /^a1 OK/],
  ]);
  const [line = ''] = await client.command('a2', 'CAPABILITY');
  assert.ok(!line.includes('CONDSTORE') && !line.includes('QRESYNC') && line.includes('MOVE'));
  assert.deepEqual(await client.command('a3', 'ENABLE CONDSTORE'), ['* ENABLED', 'a3 OK ENABLE completed']);
  assert.match((await client.command('a4', 'ID NIL')).at(-1) ?? '', /^a4 OK/);
  await client.close();
});

const FULL_ID = Array.from({ length: 30 }, (_, i): [string, string] => [
  `field-${i}`.padEnd(30, 'x'),
  (i === 0 ? 'name' : 'value').padEnd(1_024, '"\\'),
]);

for (const loggedInBefore of [false, true])
  test(`a full ID is taken ${loggedInBefore ? 'after' : 'before'} login, quoted and in literals (RFC 2971 §3.3)`, async () => {
    const store = new MemoryStore();
    const client = await (loggedInBefore ? loggedIn(store) : connect(store));
    const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
    const literal = (text: string) => `{${text.length}+}\r\n${text}`;
    for (const write of [quoted, literal])
      assert.deepEqual(
        await client.command(
          'i',
          `ID (${FULL_ID.map(([name, value]) => `${quoted(name)} ${write(value)}`).join(' ')})`,
        ),
        ['* ID ("name" "Agent Mailbox")', 'i OK ID completed'],
      );
    assert.match((await client.command('n', 'ID ("name" NIL)')).at(-1) ?? '', /^n OK/);
    assert.match((await client.command('e', 'ID ()')).at(-1) ?? '', /^e OK/);
    const more = [...FULL_ID, ['one-more', 'x']].map(([name = '']) => `${quoted(name)} NIL`).join(' ');
    assert.match((await client.command('m', `ID (${more})`)).at(-1) ?? '', /^m BAD Expected at most 30 fields/);
    assert.match((await client.command('l', `ID ("${'x'.repeat(31)}" NIL)`)).at(-1) ?? '', /^l BAD .* 30 octets/);
    assert.match((await client.command('v', `ID ("x" "${'x'.repeat(1_025)}")`)).at(-1) ?? '', /^v BAD .* 1024 octets/);
    await client.close();
  });

test('20 bad commands end the connection with BYE', async () => {
  const client = await loggedIn(new MemoryStore());
  for (let i = 1; i < 20; i++) assert.match((await client.command(`b${i}`, 'NONSENSE')).at(-1) ?? '', /BAD/);
  client.send('b20 NONSENSE\r\n');
  assert.match((await client.line()) ?? '', /^b20 BAD/);
  assert.match((await client.line()) ?? '', /^\* BYE Too many bad commands/);
  assert.equal(await client.line(), undefined);
});

test('bad commands before login count, whatever is answered OK between them', async () => {
  const client = await connect(new MemoryStore());
  for (let i = 1; i < 20; i++) {
    assert.match((await client.command(`b${i}`, 'NONSENSE')).at(-1) ?? '', /BAD/);
    assert.match((await client.command(`n${i}`, 'NOOP')).at(-1) ?? '', /OK/);
  }
  client.send('b20 NONSENSE\r\n');
  assert.match((await client.line()) ?? '', /^b20 BAD/);
  assert.match((await client.line()) ?? '', /^\* BYE Too many bad commands/);
});

test('once logged in only bad commands without an OK between them count', async () => {
  const client = await loggedIn(new MemoryStore());
  for (let i = 1; i <= 30; i++) {
    assert.match((await client.command(`b${i}`, 'NONSENSE')).at(-1) ?? '', /BAD/);
    if (i % 19 === 0) assert.match((await client.command(`n${i}`, 'NOOP')).at(-1) ?? '', /OK/);
  }
  await client.close();
});

test('no login in time and no word for long end with BYE', async () => {
  const slow = await connect(new MemoryStore(), { limits: { loginTimeMs: 20 } });
  assert.match((await slow.line()) ?? '', /^\* BYE No login/);
  const silent = await loggedIn(new MemoryStore(), { limits: { autologoutMs: 20 } });
  assert.match((await silent.line()) ?? '', /^\* BYE No command/);
  assert.equal(await silent.line(), undefined);
});

test('a closed mailbox and a stop of the service end with BYE, also in IDLE', async () => {
  const store = new MemoryStore();
  const closers = new Set<() => void>();
  const client = await loggedIn(store, { login: loginTo(store, closers) });
  await client.command('s', 'SELECT INBOX');
  client.send('i IDLE\r\n');
  assert.match((await client.line()) ?? '', /^\+ /);
  for (const close of closers) close();
  assert.match((await client.line()) ?? '', /^i OK/);
  assert.match((await client.line()) ?? '', /^\* BYE \[ALERT\] The mailbox was closed/);
  await client.connection.done;
  assert.equal(closers.size, 0);
  assert.equal(store.watchers, 0);
  const other = await connect(store);
  other.connection.close('The service stops');
  assert.equal(await other.line(), '* BYE The service stops');
  await other.connection.done;
});

test('an unreachable store is UNAVAILABLE, an internal error SERVERBUG; the connection stays open', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x'));
  const client = await loggedIn(store);
  store.failure = new StoreUnavailable('away');
  assert.match((await client.command('a1', 'SELECT INBOX')).at(-1) ?? '', /^a1 NO \[UNAVAILABLE\]/);
  store.failure = new TypeError('oops');
  assert.match((await client.command('a2', 'SELECT INBOX')).at(-1) ?? '', /^a2 NO \[SERVERBUG\] .*[0-9a-f]{12}$/);
  assert.match((await client.command('a3', 'SELECT INBOX')).at(-1) ?? '', /^a3 OK/);
  await client.close();
});

test('content that cannot be read in the middle of an answer drops the line', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x', '', 'y'.repeat(3_000_000)), { flags: 1 });
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  const slice = store.slice.bind(store);
  store.slice = async (id, from, length) => {
    if (from > 0) throw new Error('disk on fire');
    return slice(id, from, length);
  };
  client.send('f FETCH 1 BODY[]\r\n');
  await client.connection.done;
  while ((await client.line()) !== undefined);
  assert.ok(client.ended);
});

test('LOGOUT, NOOP and CAPABILITY work before login', async () => {
  const client = await connect(new MemoryStore());
  await talk(client, [
    ['a1 NOOP', /^a1 OK/],
    ['a2 CAPABILITY', /^\* CAPABILITY /],
    ['', /^a2 OK/],
    ['a3 LOGOUT', /^\* BYE/],
    ['', /^a3 OK/],
  ]);
});

test('a line beyond the limit is BAD with its tag, the next command is heard', async () => {
  await play(
    new MemoryStore(),
    `C: a1 NOOP ${'x'.repeat(300)}
     S: a1 BAD The command line is too long
     C: a2 NOOP
     S: a2 OK
     C: a3 LOGIN {300}
     S: a3 BAD ...
     C: a4 STATUS {300+}
     C: ${'y'.repeat(298)}
     C: (MESSAGES)
     S: a4 BAD ...`,
    { limits: { lineMaxBytes: 200, literalMaxBytes: 250 } },
  );
});

test('commands that were sent ahead are not run for a client that is gone', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('waiting'));
  let searches = 0;
  const searching = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const search = store.search.bind(store);
  store.search = async (...given) => {
    searches++;
    searching.resolve();
    await goOn.promise;
    return search(...given);
  };
  const client = new Client(store);
  client.send(`a LOGIN ${ADDRESS} ${TOKEN}\r\nb SELECT INBOX\r\n${'c SEARCH TEXT x\r\n'.repeat(100)}`);
  await searching.promise;
  client.breakOff();
  goOn.resolve();
  await client.connection.done;
  assert.equal(searches, 1);
});

test('literals that were sent ahead are not checked for a client that is gone', async () => {
  for (const commands of ['b APPEND INBOX {1}\r\n'.repeat(100), `b APPEND INBOX${' {0+}\r\n'.repeat(100)}\r\n`]) {
    const store = new MemoryStore();
    let quotas = 0;
    const asking = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    store.quota = async () => {
      quotas++;
      asking.resolve();
      await goOn.promise;
      return { usedBytes: 1, limitBytes: 1, messages: 1 };
    };
    const client = new Client(store);
    client.send(`a LOGIN ${ADDRESS} ${TOKEN}\r\n${commands}`);
    await asking.promise;
    client.breakOff();
    goOn.resolve();
    await client.connection.done;
    assert.equal(quotas, 1, commands.slice(0, 20));
  }
});

test('a tag of more than 128 characters is BAD, and the next command is heard', async () => {
  const long = 't'.repeat(129);
  await play(
    new MemoryStore(),
    `C: ${long} NOOP
     S: * BAD A tag has at most 128 characters
     C: ${long} APPEND INBOX {5}
     S: * BAD A tag has at most 128 characters
     C: ${'t'.repeat(128)} NOOP
     S: ${'t'.repeat(128)} OK`,
  );
});
