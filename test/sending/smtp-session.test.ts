/** What is said to a mail host, command by command. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { smtpSession } from '#sending/transports/smtp-session.ts';
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

/** A host that answers commands (by their first word, `.` for the end of a message) with these replies. */
async function host(replies: Readonly<Record<string, string>> = {}, extensions: readonly string[] = []): Promise<Host> {
  const sockets = new Set<net.Socket>();
  const found: Host = { port: 0, lines: [], ended: false };
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    let inData = false;
    const answer = (word: string, otherwise: string) => socket.write(`${replies[word] ?? otherwise}\r\n`);
    socket.on('error', () => {}).on('close', () => (found.ended = true));
    socket.write('220 mx.test\r\n');
    socket.on('data', (chunk) => {
      rest += chunk.toString('utf8');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        found.lines.push(line);
        const word = line.split(/[ :]/, 1)[0] ?? '';
        if (inData && line !== '.') continue;
        if (inData) {
          inData = false;
          answer('.', '250 2.0.0 queued');
        } else if (word === 'EHLO')
          socket.write(['250-mx.test', ...extensions.map((each) => `250-${each}`), '250 HELP', ''].join('\r\n'));
        else if (word === 'RCPT') answer(line.replace(/ \S*=.*/, ''), replies['RCPT'] ?? '250 ok');
        else if (word === 'DATA') {
          const reply = replies['DATA'] ?? '354 go on';
          inData = reply.startsWith('3');
          answer('DATA', reply);
        } else if (word === 'QUIT') {
          answer('QUIT', '221 bye');
          socket.end();
        } else answer(word, '250 ok');
      }
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

const talk = ({ port }: Host, mail: Partial<OutgoingMail> = {}) =>
  smtpSession(
    { host: 'mx.test', address: '127.0.0.1', port, hostname: 'mail.test', tls: 'none', silenceMs: 10_000 },
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
