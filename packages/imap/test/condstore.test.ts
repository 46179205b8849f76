/** CONDSTORE and QRESYNC (RFC 7162): SELECT, FETCH, STORE, SEARCH, EXPUNGE and unsolicited answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

function filled(count: number): MemoryStore {
  const store = new MemoryStore();
  for (let i = 1; i <= count; i++) store.deliver('INBOX', note(`mail ${i}`));
  return store;
}
const OPEN = `C: s1 SELECT INBOX (CONDSTORE)
     S: *** s1 OK [READ-WRITE]`;

test('with CONDSTORE on, flag changes include MODSEQ, also silent ones', async () => {
  await play(
    filled(3),
    `${OPEN}
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C: a1 STORE 1 +FLAGS (\\Seen)
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) MODSEQ (5))
     S: a1 OK
     C: a2 STORE 2 +FLAGS.SILENT (\\Seen)
     S: * 2 FETCH (MODSEQ (6))
     S: a2 OK
     C2: b2 STORE 3 +FLAGS.SILENT (\\Flagged)
     S2: * 1 FETCH (FLAGS (\\Seen))
     S2: * 2 FETCH (FLAGS (\\Seen))
     S2: b2 OK
     C: a3 NOOP
     S: * 3 FETCH (FLAGS (\\Flagged \\Recent) MODSEQ (7))
     S: a3 OK
     C: a4 FETCH 1:3 (FLAGS) (CHANGEDSINCE 5)
     S: * 2 FETCH (FLAGS (\\Seen \\Recent) MODSEQ (6))
     S: * 3 FETCH (FLAGS (\\Flagged \\Recent) MODSEQ (7))
     S: a4 OK
     C: a5 UID FETCH 1:* (UID MODSEQ) (CHANGEDSINCE 6)
     S: * 3 FETCH (UID 3 MODSEQ (7))
     S: a5 OK`,
  );
});

/** The answer of a FETCH with CHANGEDSINCE, beside a message that comes before it and one that comes while it begins. */
async function fetchBesideArrivals(keywords: readonly string[] = []): Promise<readonly string[]> {
  const store = filled(2);
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX (CONDSTORE)');
  store.deliver('INBOX', note('before the command'));
  const claim = store.recentFrom.bind(store);
  store.recentFrom = async (...folder) => {
    store.recentFrom = claim;
    store.deliver('INBOX', note('while its answer begins'), { keywords: [...keywords] });
    return claim(...folder);
  };
  return client.command('f', 'FETCH 1:* (FLAGS) (CHANGEDSINCE 3)');
}

test('FETCH CHANGEDSINCE announces messages before it names them, also those that come while it begins', async () => {
  const lines = await fetchBesideArrivals();
  assert.deepEqual(lines.map((line) => /^\* \d+ (?:EXISTS|FETCH)/.exec(line)?.[0]).filter(Boolean), [
    '* 3 EXISTS',
    '* 4 EXISTS',
    '* 3 FETCH',
    '* 4 FETCH',
  ]);
});

test('FETCH CHANGEDSINCE announces keywords before it names them, also those stored while it begins', async () => {
  const lines = await fetchBesideArrivals(['urgent']);
  const announced = lines.findIndex((line) => /^\* FLAGS \(.* urgent\)$/.test(line));
  const named = lines.findIndex((line) => /^\* 4 FETCH \(.*urgent/.test(line));
  assert.ok(announced >= 0 && announced < named, lines.join('\n'));
});

test('STORE UNCHANGEDSINCE lists changes by others in MODIFIED (RFC 7162 §3.1.3)', async () => {
  await play(
    filled(4),
    `${OPEN}
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C2: b2 STORE 2,3 +FLAGS.SILENT (\\Flagged)
     S2: b2 OK
     C: d105 STORE 1:4 (UNCHANGEDSINCE 5) +FLAGS.SILENT (\\Deleted)
     S: * 1 FETCH (MODSEQ (7))
     S: * 4 FETCH (MODSEQ (7))
     S: * 2 FETCH (FLAGS (\\Flagged \\Recent) MODSEQ (6))
     S: * 3 FETCH (FLAGS (\\Flagged \\Recent) MODSEQ (6))
     S: d105 OK [MODIFIED 2:3]
     C: d106 UID STORE 2 (UNCHANGEDSINCE 6) +FLAGS (\\Deleted)
     S: * 2 FETCH (UID 2 FLAGS (\\Flagged \\Deleted \\Recent) MODSEQ (8))
     S: d106 OK
     C: d107 STORE 1 (UNCHANGEDSINCE 0) FLAGS ()
     S: d107 OK [MODIFIED 1]`,
  );
});

test('SEARCH MODSEQ answers the highest MODSEQ (RFC 7162 §3.1.5)', async () => {
  await play(
    filled(5),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a0 SEARCH MODSEQ "/flags/\\\\draft" all 4
     S: * OK [HIGHESTMODSEQ 6] ...
     S: * SEARCH 3 4 5 (MODSEQ 6)
     S: a0 OK
     C: a1 SEARCH OR NOT MODSEQ 4 LARGER 50000
     S: * SEARCH 1 2 (MODSEQ 3)
     S: a1 OK
     C: a2 SEARCH RETURN (MIN) MODSEQ 4
     S: * ESEARCH (TAG "a2") MIN 3 MODSEQ 4
     S: a2 OK
     C: a3 SEARCH MODSEQ 99
     S: * SEARCH
     S: a3 OK`,
  );
});

test('QRESYNC SELECT sends VANISHED (EARLIER), then changes (RFC 7162 §3.2.5)', async () => {
  const store = filled(6);
  await play(
    store,
    `${OPEN}
     C: a1 STORE 2,5 +FLAGS.SILENT (\\Deleted)
     S: *** a1 OK
     C: a2 EXPUNGE
     S: * 5 EXPUNGE
     S: * 2 EXPUNGE
     S: a2 OK [HIGHESTMODSEQ 9]
     C: a3 STORE 1 +FLAGS.SILENT (\\Seen)
     S: *** a3 OK`,
  );
  await play(
    store,
    `C: a0 SELECT INBOX (QRESYNC (1600000000 7))
     S: a0 BAD [CLIENTBUG]
     C: s1 EXAMINE INBOX
     S: *** s1 OK [READ-ONLY]
     C: s2 UID FETCH 1:* (FLAGS) (CHANGEDSINCE 8 VANISHED)
     S: s2 BAD [CLIENTBUG]
     C: s3 UNSELECT
     S: s3 OK
     C: a1 ENABLE QRESYNC
     S: * ENABLED QRESYNC
     S: a1 OK
     C: A02 SELECT INBOX (QRESYNC (1600000000 7 1:6 (1,3,6 1,3,6)))
     S: *** * OK [HIGHESTMODSEQ 10] ...
     S: * OK [MAILBOXID (F1)] ...
     S: * VANISHED (EARLIER) 2,5
     S: * 1 FETCH (UID 1 FLAGS (\\Seen) MODSEQ (10))
     S: A02 OK [READ-WRITE]
     -- Known UIDs bound the answer; a wrong UIDVALIDITY answers nothing.
     C: A03 SELECT INBOX (QRESYNC (1600000000 7 3:6))
     S: *** * VANISHED (EARLIER) 5
     S: A03 OK [READ-WRITE]
     C: A04 SELECT INBOX (QRESYNC (77 7))
     S: *** * OK [MAILBOXID (F1)] ...
     S: A04 OK [READ-WRITE]
     C: A05 UID FETCH 1:* (FLAGS) (CHANGEDSINCE 8 VANISHED)
     S: * VANISHED (EARLIER) 2,5
     S: * 1 FETCH (UID 1 FLAGS (\\Seen) MODSEQ (10))
     S: A05 OK`,
  );
  store.prune('INBOX');
  await play(
    store,
    `C: a1 ENABLE QRESYNC
     S: * ENABLED QRESYNC
     S: a1 OK
     C: A02 SELECT INBOX (QRESYNC (1600000000 7))
     S: *** * OK [MAILBOXID (F1)] ...
     S: * VANISHED (EARLIER) 2,5
     S: * 1 FETCH (UID 1 FLAGS (\\Seen) MODSEQ (10))
     S: A02 OK [READ-WRITE]`,
  );
});

test('after ENABLE QRESYNC removals are VANISHED, and flags come with UIDs; ENABLE works in selected state', async () => {
  await play(
    filled(4),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 ENABLE QRESYNC IMAP4rev2 NONSENSE
     S: * OK [HIGHESTMODSEQ 5] ...
     S: * ENABLED QRESYNC IMAP4rev2
     S: a1 OK
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C2: b2 STORE 1:2 +FLAGS.SILENT (\\Deleted)
     S2: b2 OK
     C2: b3 UID EXPUNGE 1:2
     S2: * 2 EXPUNGE
     S2: * 1 EXPUNGE
     S2: b3 OK
     C2: b4 UID STORE 4 +FLAGS (\\Answered)
     S2: * 2 FETCH (UID 4 FLAGS (\\Answered))
     S2: b4 OK
     C: a2 NOOP
     S: * VANISHED 1:2
     S: * 2 FETCH (UID 4 FLAGS (\\Answered) MODSEQ (8))
     S: a2 OK
     C: a3 UID MOVE 3 Trash
     S: * OK [COPYUID 1600000005 3 1] ...
     S: * VANISHED 3
     S: a3 OK [HIGHESTMODSEQ 9]
     C: a4 STORE 1 +FLAGS.SILENT (\\Deleted)
     S: * 1 FETCH (UID 4 MODSEQ (10))
     S: a4 OK
     C: a5 CLOSE
     S: a5 OK [HIGHESTMODSEQ 11]`,
  );
});

test('a session too old for the change log is brought up to date by a new view', async () => {
  const old = filled(4);
  const client = await loggedIn(old);
  await client.command('s', 'SELECT INBOX');
  await old.storeFlags({ folderId: 1, uids: [2], change: 'add', flags: 8, keywords: [], unchangedSince: null });
  await old.expunge(1, null);
  old.deliver('INBOX', note('new'));
  await old.storeFlags({ folderId: 1, uids: [4], change: 'add', flags: 1, keywords: [], unchangedSince: null });
  old.prune('INBOX');
  assert.deepEqual(await client.command('n', 'NOOP'), [
    '* 5 EXISTS',
    '* 5 RECENT',
    '* 2 EXPUNGE',
    '* 3 FETCH (FLAGS (\\Seen \\Recent))',
    'n OK NOOP completed',
  ]);
  await client.close();
});

test('while a removal is held back, HIGHESTMODSEQ says from where a client must ask again (RFC 7162 §3.2.4)', async () => {
  await play(
    filled(3),
    `C: a0 ENABLE QRESYNC
     S: * ENABLED QRESYNC
     S: a0 OK
     C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C2: b2 MOVE 1 Trash
     S2: *** b2 OK
     -- The removal has MODSEQ 5; a client that kept the 6 below would never hear of it.
     C: a1 STORE 2 +FLAGS.SILENT (\\Seen)
     S: * 2 FETCH (UID 2 MODSEQ (6))
     S: * OK [HIGHESTMODSEQ 4] ...
     S: a1 OK
     C: a2 NOOP
     S: * VANISHED 1
     S: a2 OK
     C: a3 STORE 1 +FLAGS.SILENT (\\Flagged)
     S: * 1 FETCH (UID 2 MODSEQ (7))
     S: a3 OK`,
  );
});
