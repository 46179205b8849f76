/** The sessions shown in the RFCs of POP3, with our addresses, tokens and messages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LineClient } from '#test/support/line-client.ts';
import { memoryMaildrop, UID_VALIDITY } from './memory-maildrop.ts';
import { ADDRESS, startPop3, TOKEN } from './pop3-server.ts';

/** Messages of 120 and 200 octets, as those of RFC 1939. */
const sized = (octets: number): string => `Subject: x\r\n\r\n${'y'.repeat(octets - 16)}\r\n`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

async function opened(messages = [sized(120), sized(200)], options: Parameters<typeof startPop3>[1] = {}) {
  const maildrop = memoryMaildrop(messages);
  const server = await startPop3(maildrop, options);
  after(() => server.close());
  return { maildrop, server };
}

/** Lines `C:` and `S:`; `...` stands for any text. */
async function play(client: LineClient, script: string): Promise<void> {
  let command: string | undefined;
  for (const line of script
    .trim()
    .split('\n')
    .map((each) => each.trim())) {
    const [, side, text = ''] = /^([CS]): ?(.*)$/.exec(line) ?? assert.fail(line);
    if (side === 'C') {
      command = text;
      continue;
    }
    const got = command === undefined ? await client.line() : await client.command(command);
    const pattern = text.split('...').map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
    assert.match((got ?? '(end)').trimEnd(), new RegExp(`^${pattern.join('.*')}$`), `${command ?? ''} → ${line}`);
    command = undefined;
  }
}

test('RFC 1939 §10: an example session', async () => {
  const { maildrop, server } = await opened();
  const client = await server.login();
  await play(
    client,
    `C: STAT
     S: +OK 2 320
     C: LIST
     S: +OK ...
     S: 1 120
     S: 2 200
     S: .
     C: RETR 1
     S: +OK 120 octets
     S: Subject: x
     S:
     S: y...
     S: .
     C: DELE 1
     S: +OK ...
     C: RETR 2
     S: +OK 200 octets
     S: Subject: x
     S:
     S: y...
     S: .
     C: DELE 2
     S: +OK ...
     C: QUIT
     S: +OK ...`,
  );
  await client.ended();
  assert.deepEqual(maildrop.expunged, [[7, 8]]);
});

test('RFC 1939 §5 and §7: LIST and UIDL of one message, of none, DELE twice, RSET, TOP', async () => {
  const { server } = await opened();
  const client = await server.login();
  await play(
    client,
    `C: LIST 2
     S: +OK 2 200
     C: LIST 3
     S: -ERR ...
     C: UIDL 2
     S: +OK 2 ${UID_VALIDITY}.8
     C: UIDL 3
     S: -ERR ...
     C: UIDL
     S: +OK ...
     S: 1 ${UID_VALIDITY}.7
     S: 2 ${UID_VALIDITY}.8
     S: .
     C: DELE 2
     S: +OK ...
     C: DELE 2
     S: -ERR Message 2 is deleted
     C: RSET
     S: +OK 2 messages (320 octets)
     C: TOP 1 10
     S: +OK ...
     S: Subject: x
     S:
     S: y...
     S: .
     C: TOP 100 3
     S: -ERR ...
     C: NOOP
     S: +OK ...`,
  );
  client.close();
});

test('RFC 2449 §5: CAPA before login and after it', async () => {
  const { server } = await opened();
  const client = await server.connect();
  for (let times = 0; times < 2; times++) {
    assert.match((await client.command('CAPA')) ?? '', /^\+OK/);
    const words = await client.body();
    for (const word of ['TOP', 'USER', 'SASL PLAIN XOAUTH2', 'PIPELINING', 'UIDL', 'RESP-CODES'])
      assert.ok(words.includes(word), word);
    if (times === 0) {
      await client.command(`USER ${ADDRESS}`);
      assert.match((await client.command(`PASS ${TOKEN}`)) ?? '', /^\+OK/);
    }
  }
  client.close();
});

test('RFC 2449 §8: IN-USE, and no login delay', async () => {
  const { server } = await opened([], { answer: { kind: 'too-many-connections' } });
  const client = await server.connect();
  await play(
    client,
    `C: USER ${ADDRESS}
     S: +OK ...
     C: PASS ${TOKEN}
     S: -ERR [IN-USE] ...`,
  );
  client.close();
});

test('RFC 2595 §4: STLS, then a second one is refused, and none after login', async () => {
  const { server } = await opened();
  const client = await server.connectPlain();
  await play(
    client,
    `C: STLS
     S: +OK ...`,
  );
  await client.startTls();
  await play(
    client,
    `C: STLS
     S: -ERR ...
     C: USER ${ADDRESS}
     S: +OK ...
     C: PASS ${TOKEN}
     S: +OK ...
     C: STLS
     S: -ERR ...
     C: USER ${ADDRESS}
     S: -ERR ...
     C: PASS ${TOKEN}
     S: -ERR ...
     C: AUTH PLAIN
     S: -ERR ...
     C: UTF8
     S: -ERR ...`,
  );
  client.close();
});

test('RFC 5034 §4: AUTH PLAIN with an initial response, with a challenge, and given up', async () => {
  const { server } = await opened();
  const plain = base64(`\0${ADDRESS}\0${TOKEN}`);
  const first = await server.connect();
  await play(
    first,
    `C: AUTH PLAIN ${plain}
     S: +OK 2 messages...`,
  );
  const second = await server.connect();
  await play(
    second,
    `C: AUTH PLAIN
     S: +
     C: *
     S: -ERR ...
     C: AUTH PLAIN =
     S: -ERR ...
     C: AUTH PLAIN
     S: +
     C: ${plain}
     S: +OK 2 messages...`,
  );
  first.close();
  second.close();
});

test('RFC 3206 §6: a wrong secret is AUTH, trouble of the server SYS/TEMP', async () => {
  const { maildrop, server } = await opened();
  const client = await server.connect();
  await play(
    client,
    `C: USER ${ADDRESS}
     S: +OK ...
     C: PASS letmein
     S: -ERR [AUTH] ...
     C: USER ${ADDRESS}
     S: +OK ...`,
  );
  maildrop.fail(new Error('down'));
  await play(
    client,
    `C: PASS ${TOKEN}
     S: -ERR [SYS/TEMP] ...`,
  );
  maildrop.fail(undefined);
  client.close();
});

test('RFC 6856 §2: UTF8, then a user name and a message in UTF-8', async () => {
  const { server } = await opened(['Subject: Grüße\r\n\r\nGrün\r\n']);
  const client = await server.connect();
  await play(
    client,
    `C: UTF8
     S: +OK ...
     C: USER ${ADDRESS}
     S: +OK ...
     C: PASS ${TOKEN}
     S: +OK 1 messages...`,
  );
  await client.command('RETR 1');
  assert.equal(Buffer.from((await client.body())[0] ?? '', 'latin1').toString(), 'Subject: Grüße');
  client.close();
});

test('EXPIRE NEVER: what was retrieved and not deleted is there in the next session (RFC 2449 §6.7)', async () => {
  const { server } = await opened();
  for (let session = 0; session < 2; session++) {
    const client = await server.login();
    assert.equal(await client.command('STAT'), '+OK 2 320');
    assert.match((await client.command('RETR 1')) ?? '', /^\+OK/);
    await client.body();
    assert.match((await client.command('QUIT')) ?? '', /^\+OK/);
    await client.ended();
  }
});

test('commands of the transaction are refused before login, with their name in no answer', async () => {
  const { server } = await opened();
  const client = await server.connect();
  for (const verb of ['STAT', 'LIST', 'UIDL', 'RETR 1', 'TOP 1 0', 'DELE 1', 'RSET', 'NOOP'])
    assert.equal(await client.command(verb), '-ERR Log in first', verb);
  assert.match((await client.command('QUIT')) ?? '', /^\+OK/);
});
