/** Responses to sessions that have one folder open at the same time: \Recent, and new keywords. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const FLAGS = (words: string) => `* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft ${words})`;
const PERMANENT = (words: string) =>
  `* OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft ${words} \\*)] ...`;
const open = (...names: string[]) =>
  names.map((name) => `C${name}: s1 SELECT INBOX\nS${name}: *** s1 OK [READ-WRITE]`).join('\n');

test('of several sessions only the first that is notified of a message gets its \\Recent', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `${open('', '2', '3')}
     C4: b1 APPEND INBOX {3+}
     C4: abc
     S4: b1 OK ...
     C: a1 NOOP
     S: * 1 EXISTS
     S: * 1 RECENT
     S: a1 OK
     C2: a1 NOOP
     S2: * 1 EXISTS
     S2: * 0 RECENT
     S2: a1 OK
     C4: b2 APPEND INBOX {3+}
     C4: def
     S4: b2 OK ...
     C2: a2 FETCH 1:* FLAGS
     S2: * 2 EXISTS
     S2: * 1 RECENT
     S2: * 1 FETCH (FLAGS ())
     S2: * 2 FETCH (FLAGS (\\Recent))
     S2: a2 OK
     C: a2 NOOP
     S: * 2 EXISTS
     S: * 1 RECENT
     S: a2 OK
     C: a3 SEARCH RECENT
     S: * SEARCH 1
     S: a3 OK
     C2: a3 SEARCH RECENT
     S2: * SEARCH 2
     S2: a3 OK
     C3: a3 SEARCH OLD
     S3: * 2 EXISTS
     S3: * 0 RECENT
     S3: * SEARCH 1 2
     S3: a3 OK
     C: a4 STATUS INBOX (RECENT)
     S: * STATUS INBOX (RECENT 1)
     S: a4 OK
     C3: a4 STATUS INBOX (RECENT)
     S3: * STATUS INBOX (RECENT 0)
     S3: a4 OK`,
  );
});

test('a read-only session sees unclaimed \\Recent, and claims none', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: a1 EXAMINE INBOX
     S: *** a1 OK [READ-ONLY]
     ${open('2')}
     C3: b1 APPEND INBOX {3+}
     C3: abc
     S3: b1 OK ...
     C: a2 NOOP
     S: * 1 EXISTS
     S: * 1 RECENT
     S: a2 OK
     C2: a2 NOOP
     S2: * 1 EXISTS
     S2: * 1 RECENT
     S2: a2 OK
     C3: b2 APPEND INBOX {3+}
     C3: def
     S3: b2 OK ...
     C2: a3 NOOP
     S2: * 2 EXISTS
     S2: * 2 RECENT
     S2: a3 OK
     C: a3 FETCH 1:* FLAGS
     S: * 2 EXISTS
     S: * 1 RECENT
     S: * 1 FETCH (FLAGS (\\Recent))
     S: * 2 FETCH (FLAGS ())
     S: a3 OK`,
  );
});

test('a new keyword is announced by FLAGS and PERMANENTFLAGS in every session, before a FETCH that contains it', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'), { keywords: ['known'] });
  await play(
    store,
    `${open('', '2')}
     C3: s1 EXAMINE INBOX
     S3: *** s1 OK [READ-ONLY]
     C: a1 STORE 1 +FLAGS (fresh KNOWN)
     S: ${FLAGS('known fresh')}
     S: ${PERMANENT('known fresh')}
     S: * 1 FETCH (FLAGS (known fresh \\Recent))
     S: a1 OK
     C2: a1 NOOP
     S2: ${FLAGS('known fresh')}
     S2: ${PERMANENT('known fresh')}
     S2: * 1 FETCH (FLAGS (known fresh))
     S2: a1 OK
     -- nothing can be kept there, so PERMANENTFLAGS stays as it is
     C3: a1 NOOP
     S3: ${FLAGS('known fresh')}
     S3: * 1 FETCH (FLAGS (known fresh))
     S3: a1 OK
     C: a2 STORE 1 -FLAGS (fresh)
     S: * 1 FETCH (FLAGS (known \\Recent))
     S: a2 OK
     C: a3 STORE 1 +FLAGS (Fresh)
     S: * 1 FETCH (FLAGS (known Fresh \\Recent))
     S: a3 OK
     C: a4 STORE 1 +FLAGS.SILENT (quiet)
     S: ${FLAGS('known fresh quiet')}
     S: ${PERMANENT('known fresh quiet')}
     S: a4 OK`,
  );
});

test('keywords of new messages are announced too, and those met while \\Seen is set', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `${open('', '2')}
     C2: b1 APPEND INBOX (label) {3+}
     C2: abc
     S2: * 2 EXISTS
     S2: * 1 RECENT
     S2: ${FLAGS('label')}
     S2: ${PERMANENT('label')}
     S2: b1 OK ...
     C: a1 FETCH 2 FLAGS
     S: * 2 EXISTS
     S: * 1 RECENT
     S: ${FLAGS('label')}
     S: ${PERMANENT('label')}
     S: * 2 FETCH (FLAGS (label))
     S: a1 OK`,
  );
});
