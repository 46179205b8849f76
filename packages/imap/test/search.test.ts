/** SEARCH with ESEARCH, SEARCHRES, WITHIN, SAVEDATE, OBJECTID. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;

function library(): MemoryStore {
  const store = new MemoryStore();
  store.deliver('INBOX', note('first report', 'Cc: smith@example.org\n', 'Figures inside.'), {
    flags: 1,
    internalDate: new Date('2026-01-10T23:30:00Z'),
  });
  store.deliver('INBOX', note('Grüße', '', 'Ärger'), {
    flags: 4,
    keywords: ['Work'],
    internalDate: new Date('2026-02-01T00:00:00Z'),
  });
  store.deliver('INBOX', note('second report', 'X-Empty:\n', 'long '.repeat(500)), {
    flags: 8,
    internalDate: new Date(Date.now() - 3_600_000),
  });
  store.deliver('INBOX', note('last', 'Bcc: hidden@example.org\n'), {
    flags: 2,
    internalDate: new Date(Date.now() - 60_000),
  });
  return store;
}

const CASES: readonly [query: string, found: string][] = [
  ['ALL', ' 1 2 3 4'],
  ['SEEN', ' 1'],
  ['UNSEEN UNDELETED', ' 2 4'],
  ['FLAGGED', ' 2'],
  ['ANSWERED', ' 4'],
  ['DELETED', ' 3'],
  ['DRAFT', ''],
  ['KEYWORD work', ' 2'],
  ['UNKEYWORD work', ' 1 3 4'],
  ['UNANSWERED', ' 1 2 3'],
  ['UNFLAGGED', ' 1 3 4'],
  ['UNDRAFT', ' 1 2 3 4'],
  ['RECENT', ' 1 2 3 4'],
  ['NEW', ' 2 3 4'],
  ['OLD', ''],
  ['2,4', ' 2 4'],
  ['4:*', ' 4'],
  ['9:*', ' 4'],
  ['UID 3:99', ' 3 4'],
  ['NOT UID 3:99', ' 1 2'],
  ['OR 1 3', ' 1 3'],
  ['OR (SEEN SUBJECT report) FLAGGED', ' 1 2'],
  ['NOT (OR SUBJECT report SUBJECT last)', ' 2'],
  ['SUBJECT REPORT', ' 1 3'],
  ['SUBJECT "grüße"', ' 2'],
  ['CHARSET UTF-8 BODY {6+}\r\nÄrger', ' 2'],
  ['CC smith', ' 1'],
  ['BCC hidden', ' 4'],
  ['FROM ann TO agent', ' 1 2 3 4'],
  ['HEADER X-Empty ""', ' 3'],
  ['HEADER X-None ""', ''],
  ['BODY figures', ' 1'],
  ['TEXT second', ' 3'],
  ['LARGER 1000', ' 3'],
  ['SMALLER 1000', ' 1 2 4'],
  ['BEFORE 11-Jan-2026', ' 1'],
  ['ON 10-Jan-2026', ' 1'],
  ['SINCE 1-Feb-2026 BEFORE "02-Feb-2026"', ' 2'],
  ['SENTON 20-Nov-2026', ' 1 2 3 4'],
  ['SENTBEFORE 20-Nov-2026', ''],
  ['SENTBEFORE 21-Nov-2026', ' 1 2 3 4'],
  ['SENTSINCE 20-Nov-2026 SEEN', ' 1'],
  ['YOUNGER 7200', ' 3 4'],
  ['OLDER 7200', ' 1 2'],
  ['YOUNGER 600', ' 4'],
  ['SAVEDON 21-Nov-2026', ' 1 2 3 4'],
  ['SAVEDBEFORE 21-Nov-2026', ''],
  ['SAVEDBEFORE 22-Nov-2026', ' 1 2 3 4'],
  ['SAVEDSINCE 21-Nov-2026 SAVEDATESUPPORTED', ' 1 2 3 4'],
  ['EMAILID msg_2', ' 2'],
  ['THREADID thr_3', ' 3'],
];

test('search keys find what they define', async () => {
  const client = await loggedIn(library());
  await client.command('s', 'SELECT INBOX');
  for (const [query, found] of CASES) {
    const lines = await client.command('q', `SEARCH ${query}`);
    assert.deepEqual(lines, [`* SEARCH${found}`, 'q OK SEARCH completed'], query);
  }
  await client.close();
});

test('what an earlier session has seen is OLD, drafts are DRAFT', async () => {
  const store = library();
  store.deliver('INBOX', note('draft'), { flags: 16 });
  await play(
    store,
    `${OPEN}
     C: a1 SEARCH DRAFT
     S: * SEARCH 5
     S: a1 OK
     C2: s1 SELECT INBOX
     S2: *** s1 OK [READ-WRITE]
     C2: b1 SEARCH OLD NOT RECENT NOT NEW
     S2: * SEARCH 1 2 3 4 5
     S2: b1 OK`,
  );
});

test('wrong searches are BAD, an unknown charset is BADCHARSET', async () => {
  const client = await loggedIn(library());
  await client.command('s', 'SELECT INBOX');
  const wrong = [
    '',
    'NONSENSE',
    'OR SEEN',
    'NOT',
    'SINCE 1-Foo-2026',
    '()',
    'SUBJECT',
    'RETURN (NONSENSE) ALL',
    'KEYWORD',
    'LARGER x',
    `${'NOT '.repeat(20)}ALL`,
    'ALL '.repeat(501).trim(),
  ];
  for (const query of wrong)
    assert.match((await client.command('q', `SEARCH ${query}`)).at(-1) ?? '', /^q BAD/, query.slice(0, 40));
  await client.close();
  await play(
    library(),
    `${OPEN}
     C: a1 SEARCH CHARSET KOI8-R ALL
     S: a1 NO [BADCHARSET (US-ASCII UTF-8)] ...
     C: a2 ENABLE UTF8=ACCEPT
     S: * ENABLED UTF8=ACCEPT
     S: a2 OK
     C: a3 SEARCH CHARSET UTF-8 ALL
     S: a3 BAD ...
     C: a4 SEARCH SUBJECT "Grüße"
     S: * SEARCH 2
     S: a4 OK`,
  );
});

test('ESEARCH answers MIN, MAX, COUNT and ALL (RFC 4731)', async () => {
  await play(
    library(),
    `${OPEN}
     C: A282 SEARCH RETURN (MIN COUNT) UNSEEN
     S: * ESEARCH (TAG "A282") MIN 2 COUNT 3
     S: A282 OK
     C: A283 SEARCH RETURN () UNSEEN
     S: * ESEARCH (TAG "A283") ALL 2:4
     S: A283 OK
     C: A284 SEARCH RETURN (MIN MAX) UNSEEN
     S: * ESEARCH (TAG "A284") MIN 2 MAX 4
     S: A284 OK
     C: A285 UID SEARCH RETURN (MIN MAX COUNT ALL) DRAFT
     S: * ESEARCH (TAG "A285") UID COUNT 0
     S: A285 OK`,
  );
});

test('rev2 turns every answer into ESEARCH, the empty one too', async () => {
  await play(
    library(),
    `C: a0 ENABLE IMAP4rev2
     S: * ENABLED IMAP4rev2
     S: a0 OK
     C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 SEARCH UNSEEN
     S: * ESEARCH (TAG "a1") ALL 2:4
     S: a1 OK
     C: a2 UID SEARCH DRAFT
     S: * ESEARCH (TAG "a2") UID
     S: a2 OK`,
  );
});

test('$ is the saved result and follows expunges (RFC 5182)', async () => {
  await play(
    library(),
    `${OPEN}
     C: A282 SEARCH RETURN (SAVE) UNSEEN
     S: A282 OK
     C: A283 FETCH $ (UID)
     S: * 2 FETCH (UID 2)
     S: * 3 FETCH (UID 3)
     S: * 4 FETCH (UID 4)
     S: A283 OK
     C: A284 UID SEARCH UID $ SMALLER 1000
     S: * SEARCH 2 4
     S: A284 OK
     C: A285 EXPUNGE
     S: * 3 EXPUNGE
     S: A285 OK
     C: A286 SEARCH $
     S: * SEARCH 2 3
     S: A286 OK
     C: A287 SEARCH RETURN (SAVE MIN) ALL
     S: * ESEARCH (TAG "A287") MIN 1
     S: A287 OK
     C: A288 FETCH $ UID
     S: * 1 FETCH (UID 1)
     S: A288 OK
     C: A289 SEARCH RETURN (SAVE) CHARSET X-NONE ALL
     S: A289 NO [BADCHARSET (US-ASCII UTF-8)] ...
     C: A290 FETCH $ UID
     S: A290 OK
     C: A291 SEARCH RETURN (SAVE COUNT) ALL
     S: * ESEARCH (TAG "A291") COUNT 3
     S: A291 OK
     C: A292 UID MOVE $ Trash
     S: * OK [COPYUID 1600000005 1:2,4 1:3] ...
     S: * 3 EXPUNGE
     S: * 2 EXPUNGE
     S: * 1 EXPUNGE
     S: A292 OK
     C: A293 SEARCH $
     S: * SEARCH
     S: A293 OK`,
  );
});

test('a search whose literal arrives late is one command (RFC 7888)', async () => {
  await play(
    library(),
    `${OPEN}
     C: A001 SEARCH SUBJECT {4}
     S: + ...
     C: last BODY {4+}
     C: Text
     S: * SEARCH 4
     S: A001 OK`,
  );
});
