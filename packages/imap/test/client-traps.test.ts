/** What breaks real clients, where no other dialogue has it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const BOTH_OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C2: s1 SELECT INBOX
     S2: *** s1 OK [READ-WRITE]`;

function filled(count: number): MemoryStore {
  const store = new MemoryStore();
  for (let i = 1; i <= count; i++) store.deliver('INBOX', note(`mail ${i}`));
  return store;
}

for (const [command, answer] of [
  ['FETCH 2 UID', '* 2 FETCH (UID 2)'],
  ['STORE 2 +FLAGS (\\Seen)', '* 2 FETCH (FLAGS (\\Seen \\Recent))'],
  ['SEARCH ALL', '* SEARCH 2 3'],
  ['SORT (ARRIVAL) UTF-8 ALL', '* SORT 2 3'],
  ['THREAD ORDEREDSUBJECT UTF-8 ALL', '* THREAD (2)(3)'],
] as const)
  test(`EXPUNGE is not sent during ${command.split(' ')[0]} by sequence number, and is in the UID form`, async () => {
    const numbered = answer.replace(/(\d) FETCH/, '$1 FETCH');
    await play(
      filled(3),
      `${BOTH_OPEN}
     C2: b1 MOVE 1 Trash
     S2: *** b1 OK
     C: a1 ${command}
     S: ${numbered}
     S: a1 OK
     C: a2 UID ${command}
     S: ...
     S: * 1 EXPUNGE
     S: a2 OK`,
    );
  });

for (const command of ['NOOP', 'CHECK', 'STATUS Sent (MESSAGES)', 'UID FETCH 2 UID', 'COPY 2 Sent', 'EXPUNGE'])
  test(`EXPUNGE is sent in ${command}`, async () => {
    const client = `C2: b1 MOVE 3 Trash
     S2: *** b1 OK
     C: a1 ${command}
     S: *** * 3 EXPUNGE
     S: *** a1 OK`;
    await play(filled(3), `${BOTH_OPEN}\n     ${client}`);
  });

test('EXISTS never falls and never is a stray 0: only EXPUNGE or VANISHED lowers the count', async () => {
  for (const mode of ['', 'QRESYNC']) {
    const store = filled(3);
    const client = await loggedIn(store);
    if (mode !== '') await client.command('e', `ENABLE ${mode}`);
    await client.command('s', 'SELECT INBOX');
    await store.expunge(1, [1, 2, 3], true);
    const lines = await client.command('n', 'NOOP');
    assert.ok(!lines.some((line) => line.endsWith(' EXISTS')), lines.join('\n'));
    store.deliver('INBOX', note('new'));
    assert.equal((await client.command('n2', 'NOOP'))[0], '* 1 EXISTS');
    await client.close();
  }
});

test('* and n:* mean the last message even when n is higher; unknown UIDs are skipped with OK', async () => {
  await play(
    filled(2),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 UID FETCH 99:* UID
     S: * 2 FETCH (UID 2)
     S: a1 OK
     C: a2 UID FETCH * UID
     S: * 2 FETCH (UID 2)
     S: a2 OK
     C: a3 UID FETCH 1,50,60:70 UID
     S: * 1 FETCH (UID 1)
     S: a3 OK
     C: a4 FETCH *:1 UID
     S: * 1 FETCH (UID 1)
     S: * 2 FETCH (UID 2)
     S: a4 OK
     C: a5 FETCH 3 UID
     S: a5 BAD ...
     C: a6 FETCH 0 UID
     S: a6 BAD ...`,
  );
});

test('CLOSE expunges in silence, UNSELECT and a lost line do not, \\Deleted alone never removes', async () => {
  const store = filled(2);
  await play(
    store,
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 STORE 1 +FLAGS.SILENT (\\Deleted)
     S: a1 OK
     C: a2 UNSELECT
     S: a2 OK
     C: a3 STATUS INBOX (MESSAGES DELETED)
     S: * STATUS INBOX (MESSAGES 2 DELETED 1)
     S: a3 OK`,
  );
  await play(
    store,
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 NOOP
     S: a1 OK
     C: a2 CLOSE
     S: a2 OK
     C: a3 STATUS INBOX (MESSAGES)
     S: * STATUS INBOX (MESSAGES 1)
     S: a3 OK`,
  );
});

test('MOVE into the same folder gives new UIDs, and a MULTIAPPEND beyond the quota stores nothing', async () => {
  const store = filled(1);
  await play(
    store,
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 UID MOVE 1 INBOX
     S: * OK [COPYUID 1600000000 1 2] ...
     S: * 2 EXISTS
     S: * 2 RECENT
     S: * 1 EXPUNGE
     S: a1 OK`,
  );
  store.quotaBytes = 125;
  await play(
    store,
    `C: a1 APPEND INBOX {3+}
     C: abc {30+}
     C: ${'x'.repeat(30)}
     S: a1 NO [OVERQUOTA]
     C: a2 STATUS INBOX (MESSAGES)
     S: * STATUS INBOX (MESSAGES 1)
     S: a2 OK`,
  );
});

test('{0} works, as literal and as non-synchronizing literal; LITERAL- is not announced beside LITERAL+', async () => {
  await play(
    filled(1),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 SEARCH SUBJECT {0}
     S: + ...
     C:
     S: * SEARCH 1
     S: a1 OK
     C: a2 SEARCH HEADER Subject {0+}
     C:
     S: * SEARCH 1
     S: a2 OK`,
  );
  const client = await loggedIn(new MemoryStore());
  const [words = ''] = await client.command('c', 'CAPABILITY');
  assert.ok(words.includes(' LITERAL+') && !words.includes('LITERAL-'));
  await client.close();
});

test('after COMPRESS nothing buffered earlier is interpreted', async () => {
  const store = filled(1);
  const client = await loggedIn(store);
  client.send('c COMPRESS DEFLATE\r\nx CREATE smuggled\r\n');
  assert.match((await client.line()) ?? '', /^c OK/);
  const answered = once(client.socket, 'data');
  client.socket.write(deflateRawSync('d CREATE after\r\n'));
  await answered;
  assert.ok(await store.folder('after'));
  assert.equal(await store.folder('smuggled'), undefined);
  await client.close();
});

test('RENAME makes missing parents, or lists them', async () => {
  const store = new MemoryStore(false);
  await store.createFolder('a', null);
  await play(
    store,
    `C: a1 RENAME a x/y/z
     S: a1 OK
     C: a2 LIST "" %
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (...\\HasChildren) "/" x
     S: a2 OK
     C: a3 SELECT inBox
     S: *** a3 OK [READ-WRITE]`,
  );
});

test('PREVIEW has at most 200 characters and marks nothing as seen', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('long', '', 'word '.repeat(200)));
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  const [line = ''] = await client.command('f', 'FETCH 1 (PREVIEW FLAGS)');
  const [, preview = '', flags] = /^\* 1 FETCH \(PREVIEW "(.*)" FLAGS \((.*)\)\)$/.exec(line) ?? [];
  assert.ok(preview.length > 100 && preview.length <= 200, String(preview.length));
  assert.equal(flags, '\\Recent');
  await client.close();
});
