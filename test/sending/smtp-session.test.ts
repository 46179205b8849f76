/** What is said to a mail host, command by command. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { type SmtpSession, smtpSession } from '#sending/transports/smtp-session.ts';
import type { OutgoingMail } from '#sending/transports/transport.ts';
import { waitUntil } from '#test/support/wait-until.ts';

interface Host {
  readonly port: number;
  /** Lines of the client, those of a message too. */
  readonly lines: string[];
  /** Whether the client has ended the connection. */
  ended: boolean;
}

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A reply line; or these bytes as they are, and then the end of the connection where it says so. */
type Reply = string | { readonly bytes: string; readonly end?: true };

const CLOSE: Reply = { bytes: '', end: true };

/**
 * A host that answers commands (by their first word, `.` for the end of a message) with these replies; those to commands
 * of one packet are in one packet.
 */
async function host(replies: Readonly<Record<string, Reply>> = {}, extensions: readonly string[] = []): Promise<Host> {
  const sockets = new Set<net.Socket>();
  const found: Host = { port: 0, lines: [], ended: false };
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    let inData = false;
    let bodyLines = 0;
    const answer = (word: string, otherwise: Reply) => {
      const reply = replies[word] ?? otherwise;
      socket.write(typeof reply === 'string' ? `${reply}\r\n` : reply.bytes);
      if (typeof reply !== 'string' && reply.end) socket.end();
    };
    socket.on('error', () => {}).on('close', () => (found.ended = true));
    socket.write('220 mx.test\r\n');
    socket.on('data', (chunk) => {
      socket.cork();
      rest += chunk.toString('utf8');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        found.lines.push(line);
        const word = line.split(/[ :]/, 1)[0] ?? '';
        if (inData && bodyLines++ === 0 && replies['BODY'] !== undefined) answer('BODY', '');
        if (inData && line !== '.') continue;
        if (inData) {
          inData = false;
          answer('.', '250 2.0.0 queued');
        } else if (word === 'EHLO')
          socket.write(['250-mx.test', ...extensions.map((each) => `250-${each}`), '250 HELP', ''].join('\r\n'));
        else if (word === 'RCPT') answer(line.replace(/ \S*=.*/, ''), replies['RCPT'] ?? '250 ok');
        else if (word === 'DATA') {
          const reply = replies['DATA'] ?? '354 go on';
          inData = (typeof reply === 'string' ? reply : reply.bytes).startsWith('3');
          answer('DATA', reply);
        } else if (word === 'QUIT') {
          answer('QUIT', '221 bye');
          socket.end();
        } else answer(word, '250 ok');
      }
      socket.uncork();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return Object.assign(found, { port: (server.address() as AddressInfo).port });
}

const ANN = 'ann@dest.test';
const UTF8 = '用户@dest.test';
const IDN = 'ann@bücher.test';
const UTF8_HEADER = Buffer.from('To: 用户@dest.test\r\nSubject: Grüße\r\n\r\nGrüße\r\n');
const ASCII_HEADER = Buffer.from('To: none:;\r\nSubject: =?utf-8?Q?x?=\r\n\r\nGr\u00fc\u00dfe\r\n');

const talk = ({ port }: Host, mail: Partial<OutgoingMail> = {}, session: Partial<SmtpSession> = {}) =>
  smtpSession(
    { host: 'mx.test', address: '127.0.0.1', port, hostname: 'mail.test', tls: 'none', silenceMs: 10_000, ...session },
    {
      sender: 'b@agents.test',
      recipients: [ANN],
      bytes: UTF8_HEADER,
      asciiHeader: () => Promise.resolve(ASCII_HEADER),
      ...mail,
    },
  );

const left = (at: Host) => waitUntil('the goodbye', () => at.lines.includes('QUIT'));
const words = (at: Host) => at.lines.map((line) => line.split(/[ :]/, 1)[0]);

describe('to a host without SMTPUTF8 (RFC 6531)', () => {
  for (const extensions of [['8BITMIME'], ['8BITMIME', 'PIPELINING']])
    test(`an address beyond ASCII fails with 5.6.7, and the others get the message with an ASCII header (${extensions})`, async () => {
      const peer = await host({}, extensions);
      const end = await talk(peer, { recipients: [UTF8, ANN, IDN] });
      assert.ok(end.asked);
      assert.deepEqual(
        end.results.map(({ address, kind, code, remoteMta }) => [address, kind, code, remoteMta]),
        [
          [UTF8, 'failed', '5.6.7', 'mx.test'],
          [ANN, 'sent', '2.0.0', 'mx.test'],
          [IDN, 'sent', '2.0.0', 'mx.test'],
        ],
      );
      await left(peer);
      assert.deepEqual(
        peer.lines.filter((line) => line.startsWith('RCPT')),
        ['RCPT TO:<ann@dest.test>', 'RCPT TO:<ann@xn--bcher-kva.test>'],
      );
      const header = peer.lines.slice(0, peer.lines.indexOf('', peer.lines.indexOf('DATA')));
      for (const line of header) assert.match(line, /^[\x20-\x7e]*$/);
      assert.ok(peer.lines.includes('To: none:;'));
    });

  test('nothing is sent where all addresses are beyond ASCII', async () => {
    const peer = await host();
    const end = await talk(peer, { recipients: [UTF8] });
    assert.ok(end.asked);
    assert.deepEqual(
      end.results.map(({ kind, code }) => [kind, code]),
      [['failed', '5.6.7']],
    );
    await left(peer);
    assert.deepEqual(words(peer), ['EHLO', 'QUIT']);
  });

  test('a refusal of the others leaves the reason of each', async () => {
    const peer = await host({ MAIL: '451 4.7.1 later' });
    const end = await talk(peer, { recipients: [UTF8, ANN] });
    assert.ok(end.asked);
    assert.deepEqual(
      end.results.map(({ kind, code }) => [kind, code]),
      [
        ['failed', '5.6.7'],
        ['deferred', '4.7.1'],
      ],
    );
  });
});

test('a host with SMTPUTF8 gets address and header as they are', async () => {
  const peer = await host({}, ['SMTPUTF8', '8BITMIME']);
  const end = await talk(peer, { recipients: [UTF8, ANN] });
  assert.ok(end.asked && end.results.every(({ kind }) => kind === 'sent'));
  assert.match(peer.lines.find((line) => line.startsWith('MAIL')) ?? '', / SMTPUTF8\b/);
  assert.ok(peer.lines.includes('RCPT TO:<用户@dest.test>'));
  assert.ok(peer.lines.includes('To: 用户@dest.test'));
});

describe('the session ends with QUIT', () => {
  const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'behind a message that was taken': {},
    'behind a refused sender': { MAIL: '550 5.7.1 no', RCPT: '503 no', DATA: '503 no' },
    'behind refused recipients': { RCPT: '550 5.1.1 no', DATA: '503 no' },
    'behind recipients to be tried again': { RCPT: '450 4.2.1 later', DATA: '503 no' },
    'behind a refused DATA': { DATA: '451 4.3.0 later' },
    'behind a refused message': { '.': '554 5.7.1 spam' },
  };
  for (const [name, replies] of Object.entries(CASES))
    for (const extensions of [[], ['PIPELINING']])
      test(`${name}${extensions.length > 0 ? ', pipelined' : ''}`, async () => {
        const peer = await host(replies, extensions);
        const end = await talk(peer);
        assert.ok(end.asked);
        await left(peer);
        await waitUntil('the end of the connection', () => peer.ended);
        assert.equal(words(peer).filter((word) => word === 'QUIT').length, 1);
        assert.equal(end.results[0]?.remoteMta, 'mx.test');
      });

  test('where sending was stopped before MAIL', async () => {
    const peer = await host();
    const end = await talk(peer, { mayBegin: () => false });
    assert.ok(end.asked);
    assert.deepEqual([end.results[0]?.kind, end.results[0]?.comeBackInMs], ['deferred', 0]);
    await left(peer);
    assert.deepEqual(words(peer), ['EHLO', 'QUIT']);
  });

  test('but not within a message that is withdrawn, where it would be text', async () => {
    const peer = await host();
    let asked = 0;
    await talk(peer, { mayBegin: () => asked++ === 0 });
    await waitUntil('the end of the connection', () => peer.ended);
    assert.deepEqual(words(peer), ['EHLO', 'MAIL', 'RCPT', 'DATA']);
  });

  test('but not where the host ends the connection itself (421)', async () => {
    const peer = await host({ MAIL: '421 4.3.2 closing' });
    await talk(peer);
    await waitUntil('the end of the connection', () => peer.ended);
    assert.ok(!words(peer).includes('QUIT'));
  });
});

const PIPELINED = [[], ['PIPELINING']];
const nameOf = (extensions: readonly string[]) => (extensions.length > 0 ? ', pipelined' : '');
const BOB = 'bob@dest.test';
const shown = (end: Awaited<ReturnType<typeof talk>>) => {
  assert.ok(end.asked);
  return end.results.map(({ address, kind, code }) => `${address.slice(0, 3)} ${kind} ${code}`);
};

describe('a recipient that was refused keeps its own answer', () => {
  const REFUSALS = { '450 4.2.0 greylisted': 'bob deferred 4.2.0', '550 5.1.1 unknown': 'bob failed 5.1.1' };
  const ENDS: readonly (readonly [string, Reply, string])[] = [
    ['550', '550 5.7.1 spam', 'ann failed 5.7.1'],
    ['554', '554 5.6.0 no', 'ann failed 5.6.0'],
    ['451', '451 4.3.0 later', 'ann deferred 4.3.0'],
    ['a close', CLOSE, 'ann deferred 4.4.1'],
  ];
  for (const [refusal, bob] of Object.entries(REFUSALS))
    for (const [what, end, ann] of ENDS)
      for (const [where, word] of [
        ['after the message', '.'],
        ['at DATA', 'DATA'],
      ] as const)
        for (const extensions of PIPELINED)
          test(`${refusal.slice(0, 3)}, then ${what} ${where}${nameOf(extensions)}`, async () => {
            const peer = await host({ [`RCPT TO:<${BOB}>`]: refusal, [word]: end }, extensions);
            assert.deepEqual(shown(await talk(peer, { recipients: [ANN, BOB] })), [ann, bob]);
          });

  for (const extensions of PIPELINED) {
    test(`where the session takes too long${nameOf(extensions)}`, async () => {
      const peer = await host({ [`RCPT TO:<${BOB}>`]: '550 5.1.1 unknown', '.': { bytes: '' } }, extensions);
      const end = await talk(peer, { recipients: [ANN, BOB] }, { sessionMs: 500 });
      assert.deepEqual(shown(end), ['ann deferred 4.4.2', 'bob failed 5.1.1']);
    });

    for (const [what, more] of [
      ['closes', { end: true }],
      ['goes on', {}],
    ] as const)
      test(`but a refused sender is the answer for all, where the host ${what}${nameOf(extensions)}`, async () => {
        for (const [mail, all] of [
          ['451 4.7.1 later', 'deferred 4.7.1'],
          ['550 5.7.1 never', 'failed 5.7.1'],
          ['421 4.3.2 shutting down', 'deferred 4.3.2'],
        ]) {
          const peer = await host(
            { MAIL: `${mail}`, RCPT: '503 5.5.1 MAIL first', DATA: { bytes: '503 no\r\n', ...more } },
            extensions,
          );
          assert.deepEqual(shown(await talk(peer, { recipients: [ANN, BOB] })), [`ann ${all}`, `bob ${all}`]);
        }
      });

    test(`421 to a recipient defers it and those after it${nameOf(extensions)}`, async () => {
      const peer = await host(
        { [`RCPT TO:<${ANN}>`]: '550 5.1.1 unknown', [`RCPT TO:<${BOB}>`]: { bytes: '421 4.3.2 bye\r\n', end: true } },
        extensions,
      );
      const end = await talk(peer, { recipients: [ANN, BOB, 'cy@dest.test'] });
      assert.deepEqual(shown(end), ['ann failed 5.1.1', 'bob deferred 4.3.2', 'cy@ deferred 4.3.2']);
    });
  }
});

describe('every reply counts that came before the host closed the connection', () => {
  for (const extensions of PIPELINED)
    for (const [word, last] of [
      ['MAIL', '550 5.7.1 no'],
      ['DATA', '554 5.5.1 no'],
      ['DATA', '554-5.5.1 no\r\n554 5.5.1 at all'],
      ['.', '554 5.5.1 no'],
    ] as const)
      test(`${last.slice(0, 4)} to ${word}${nameOf(extensions)}`, async () => {
        const peer = await host({ [word]: { bytes: `${last}\r\n`, end: true } }, extensions);
        const [result] = shown(await talk(peer));
        assert.match(result ?? '', /^ann failed 5\.[57]\.1$/);
      });

  test('554 to DATA, behind those to many recipients', async () => {
    const recipients = Array.from({ length: 100 }, (_, i) => `to${i}@dest.test`);
    const peer = await host({ DATA: { bytes: '554 5.5.1 no\r\n', end: true } }, ['PIPELINING']);
    const end = await talk(peer, { recipients });
    assert.ok(end.asked);
    assert.ok(end.results.every(({ kind, code }) => kind === 'failed' && code === '5.5.1'));
  });

  test('each refusal of a recipient, where none is left and DATA is not answered', async () => {
    const peer = await host(
      { [`RCPT TO:<${ANN}>`]: '450 4.2.0 later', [`RCPT TO:<${BOB}>`]: '550 5.1.1 unknown', DATA: CLOSE },
      ['PIPELINING'],
    );
    assert.deepEqual(shown(await talk(peer, { recipients: [ANN, BOB] })), ['ann deferred 4.2.0', 'bob failed 5.1.1']);
  });
});

describe('a host that breaks the protocol has not taken the message', () => {
  const STAYS: Readonly<Record<string, Readonly<Record<string, Reply>>>> = {
    'answers DATA with 250 (RFC 5321 §4.3.2)': { DATA: '250 2.0.0 ok' },
    'answers DATA with two lines of 250': { DATA: '250-2.0.0 ok\r\n250 2.0.0 go on' },
    'answers DATA with 250, and closes': { DATA: { bytes: '250 ok\r\n', end: true } },
    'answers DATA twice': { DATA: '354 go on\r\n250 2.0.0 queued' },
    'answers RCPT twice': { RCPT: '250 ok\r\n250 ok' },
    'answers the message with words': { '.': 'thank you' },
    'answers the message with one digit': { '.': '2 thank you' },
    'answers the message with 354': { '.': '354 more' },
    'answers the message with 250 and 550 in one reply': { '.': '250-2.0.0 queued\r\n550 5.7.1 spam' },
    'answers the message with half a line, and closes': { '.': { bytes: '250 2.0.0 que', end: true } },
    'answers the message with half a reply, and closes': { '.': { bytes: '250-2.0.0 queued\r\n', end: true } },
    'answers the message without an end': { '.': { bytes: `250-${'x'.repeat(2_000)}\r\n`.repeat(1_000) } },
  };
  for (const [what, replies] of Object.entries(STAYS))
    for (const extensions of PIPELINED)
      test(`${what}${nameOf(extensions)}: it is tried again`, async () => {
        const peer = await host(replies, extensions);
        const [result] = shown(await talk(peer));
        assert.match(result ?? '', /^ann deferred 4\./);
        await waitUntil('the end of the connection', () => peer.ended);
      });

  for (const extensions of PIPELINED)
    test(`250 to DATA: nothing of the message is sent, and a refused recipient keeps its answer${nameOf(extensions)}`, async () => {
      const peer = await host({ [`RCPT TO:<${BOB}>`]: '550 5.1.1 unknown', DATA: '250 ok' }, extensions);
      assert.deepEqual(shown(await talk(peer, { recipients: [ANN, BOB] })), ['ann deferred 4.5.0', 'bob failed 5.1.1']);
      await waitUntil('the end of the connection', () => peer.ended);
      assert.equal(peer.lines.at(-1), 'DATA');
    });
});

describe('an answer in the middle of a message', () => {
  const CASES = [
    ['552 5.3.4 too big', 'ann failed 5.3.4'],
    ['451 4.3.0 no room', 'ann deferred 4.3.0'],
    ['421 4.3.2 shutting down', 'ann deferred 4.3.2'],
    ['250 2.0.0 queued', 'ann deferred 4.5.0'],
  ] as const;
  for (const [reply, result] of CASES) {
    test(`${reply.slice(0, 3)}: the message is not ended, and QUIT is no line of it`, async () => {
      const peer = await host({ BODY: reply });
      const end = await talk(peer, {
        bytes: Buffer.from(`Subject: s\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(20_000)}`),
        asciiHeader: undefined,
      });
      assert.deepEqual(shown(end), [result]);
      await waitUntil('the end of the connection', () => peer.ended);
      assert.ok(!peer.lines.includes('.') && !peer.lines.some((line) => line.endsWith('QUIT')));
    });

    test(`${reply.slice(0, 3)} before its first line`, async () => {
      const peer = await host({ DATA: `354 go on\r\n${reply}` });
      let asked = 0;
      const mayBegin = () => (asked++ === 0 ? true : waitUntil('the end', () => peer.ended).then(() => true));
      assert.deepEqual(shown(await talk(peer, { mayBegin })), [result]);
      await waitUntil('the end of the connection', () => peer.ended);
      assert.equal(peer.lines.at(-1), 'DATA');
    });
  }
});

test('the host has twice the time for its answer to the whole message (RFC 5321 §4.5.3.2.6)', async () => {
  const peer = await host({ '.': { bytes: '' } });
  const startedAt = performance.now();
  assert.deepEqual(shown(await talk(peer, {}, { silenceMs: 300 })), ['ann deferred 4.4.1']);
  assert.ok(performance.now() - startedAt >= 590);
});

for (const extensions of PIPELINED)
  test(`552 to one of several recipients may mean that they are too many (RFC 5321 §4.5.3.1.10)${nameOf(extensions)}`, async () => {
    for (const [reply, others, result] of [
      ['552 too many recipients', [ANN], 'bob deferred 4.5.3'],
      ['550 5.5.3 too many recipients', [ANN], 'bob deferred 4.5.3'],
      ['552 5.2.2 mailbox full', [ANN], 'bob failed 5.2.2'],
      ['552 too much', [], 'bob failed 5.0.0'],
    ] as const) {
      const peer = await host({ [`RCPT TO:<${BOB}>`]: reply }, extensions);
      assert.equal(shown(await talk(peer, { recipients: [...others, BOB] })).at(-1), result);
    }
  });

test('nodemailer has the fields that the session reads', async () => {
  const { port } = await host({ [`RCPT TO:<${BOB}>`]: '550 5.1.1 unknown', DATA: '451 later' });
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  await new Promise<void>((resolve) => connection.connect(() => resolve()));
  await new Promise<void>((resolve) => connection.send({ from: ANN, to: [ANN, BOB] }, 'x', () => resolve()));
  const field = (name: string): unknown => Reflect.get(connection, name);
  connection.close();
  assert.deepEqual(Reflect.get(Object(field('_envelope')), 'accepted'), [ANN]);
  const [refusal, ...none] = Object.values(Object(Reflect.get(Object(field('_envelope')), 'rejectedErrors')));
  assert.deepEqual([Reflect.get(Object(refusal), 'recipient'), none], [BOB, []]);
  assert.ok(Array.isArray(field('_supportedExtensions')) && Array.isArray(field('_responseQueue')));
  assert.equal(typeof field('_processResponse'), 'function');
  assert.equal(field('_currentDataStream'), false);
});
