/** STORE, EXPUNGE, UID EXPUNGE, COPY, MOVE, REPLACE. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;
const OPEN2 = `C2: s1 SELECT INBOX
     S2: *** s1 OK [READ-WRITE]`;

function filled(count: number): MemoryStore {
  const store = new MemoryStore();
  for (let i = 1; i <= count; i++) store.deliver('INBOX', note(`mail ${i}`));
  return store;
}

test('STORE replaces, adds and removes flags and keywords (RFC 9051 §6.4.6)', async () => {
  await play(
    filled(4),
    `${OPEN}
     C: A003 STORE 2:4 +FLAGS (\\Deleted)
     S: * 2 FETCH (FLAGS (\\Deleted \\Recent))
     S: * 3 FETCH (FLAGS (\\Deleted \\Recent))
     S: * 4 FETCH (FLAGS (\\Deleted \\Recent))
     S: A003 OK
     C: a2 UID STORE 4 FLAGS (\\Seen $Forwarded work)
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Forwarded work)
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Forwarded work \\*)] ...
     S: * 4 FETCH (UID 4 FLAGS (\\Seen $Forwarded work \\Recent))
     S: a2 OK
     C: a3 STORE 4 -FLAGS WORK
     S: * 4 FETCH (FLAGS (\\Seen $Forwarded \\Recent))
     S: a3 OK
     C: a4 STORE 4 -FLAGS.SILENT ($Forwarded)
     S: a4 OK
     C: a5 STORE 1 +FLAGS \\Seen \\Flagged
     S: * 1 FETCH (FLAGS (\\Flagged \\Seen \\Recent))
     S: a5 OK
     C: a6 STORE 9 +FLAGS (\\Seen)
     S: a6 BAD ...
     C: a7 STORE 1 +FLAGS (\\Nonsense)
     S: a7 BAD ...
     C: a8 STORE 1 +FLAGS (${'k'.repeat(65)})
     S: a8 NO [LIMIT]
     C: a9 STORE 1 +FLAGS (\\Recent)
     S: * 1 FETCH (FLAGS (\\Flagged \\Seen \\Recent))
     S: a9 OK`,
  );
});

test('.SILENT silences only the own echo', async () => {
  await play(
    filled(1),
    `${OPEN}
     ${OPEN2}
     C2: b1 STORE 1 +FLAGS.SILENT (\\Flagged)
     S2: b1 OK
     C: a1 STORE 1 +FLAGS.SILENT (\\Seen)
     S: * 1 FETCH (FLAGS (\\Flagged \\Seen \\Recent))
     S: a1 OK
     C2: b2 NOOP
     S2: * 1 FETCH (FLAGS (\\Flagged \\Seen))
     S2: b2 OK`,
  );
});

test('STORE of a removed message reads the changes, although the store has not notified of them yet', async () => {
  class LateStore extends MemoryStore {
    override watch() {
      return () => {};
    }
  }
  const store = new LateStore();
  for (const subject of ['one', 'two']) store.deliver('INBOX', note(subject));
  await play(
    store,
    `${OPEN}
     ${OPEN2}
     C2: b1 UID STORE 1 +FLAGS.SILENT (\\Deleted)
     S2: b1 OK
     C2: b2 EXPUNGE
     S2: * 1 EXPUNGE
     S2: b2 OK
     C: a1 UID STORE 1:2 +FLAGS (\\Seen)
     S: * 2 FETCH (UID 2 FLAGS (\\Seen \\Recent))
     S: * 1 EXPUNGE
     S: a1 OK`,
  );
});

test('EXPUNGE removes what is \\Deleted; UID EXPUNGE only among its set (RFC 4315 §2.1)', async () => {
  await play(
    filled(5),
    `${OPEN}
     C: a1 STORE 1,3:5 +FLAGS.SILENT (\\Deleted)
     S: a1 OK
     C: A101 UID EXPUNGE 3:4
     S: * 4 EXPUNGE
     S: * 3 EXPUNGE
     S: A101 OK
     C: a2 EXPUNGE
     S: * 3 EXPUNGE
     S: * 1 EXPUNGE
     S: a2 OK
     C: a3 EXPUNGE
     S: a3 OK
     C: a4 UID FETCH 1:* UID
     S: * 1 FETCH (UID 2)
     S: a4 OK`,
  );
});

test('COPY answers COPYUID in ascending pairs, TRYCREATE, and is all or nothing (RFC 4315 §3)', async () => {
  const store = filled(4);
  await play(
    store,
    `${OPEN}
     C: A004 COPY 2:4 Archive
     S: A004 OK [COPYUID 1600000003 2:4 1:3]
     C: A005 COPY 2:4 meeting
     S: A005 NO [TRYCREATE]
     C: A006 UID COPY 77 Archive
     S: A006 OK ...
     C: A007 UID COPY 3,1 Archive
     S: A007 OK [COPYUID 1600000003 1,3 4:5]
     C: A008 FETCH 2 EMAILID
     S: * 2 FETCH (EMAILID (msg_2))
     S: A008 OK
     C: A009 SELECT Archive
     S: * OK [CLOSED] ...
     S: *** A009 OK [READ-WRITE]
     C: A010 FETCH 1 EMAILID
     S: * 1 FETCH (EMAILID (msg_2))
     S: A010 OK`,
  );
  store.quotaBytes = 1;
  await play(
    store,
    `${OPEN}
     C: a1 COPY 1 Archive
     S: a1 NO [OVERQUOTA]`,
  );
});

test('MOVE sends COPYUID before the removals (RFC 6851), also into the same folder', async () => {
  await play(
    filled(3),
    `${OPEN}
     C: a1 UID MOVE 1:2 Archive
     S: * OK [COPYUID 1600000003 1:2 1:2] ...
     S: * 2 EXPUNGE
     S: * 1 EXPUNGE
     S: a1 OK
     C: a2 MOVE 1 INBOX
     S: * OK [COPYUID 1600000000 3 4] ...
     S: * 2 EXISTS
     S: * 2 RECENT
     S: * 1 EXPUNGE
     S: a2 OK
     C: a3 MOVE 1 nothing
     S: a3 NO [TRYCREATE]
     C: a4 UID MOVE 99 Archive
     S: a4 OK ...`,
  );
});

test('REPLACE puts a new message in the place of an old one (RFC 8508)', async () => {
  await play(
    filled(2),
    `${OPEN}
     C: A1 REPLACE 2 Drafts (\\Seen \\Draft) {3}
     S: + ...
     C: abc
     S: * OK [APPENDUID 1600000002 1] ...
     S: * 2 EXPUNGE
     S: A1 OK
     C: A2 UID REPLACE 1 INBOX (\\Flagged) {4+}
     C: abcd
     S: * OK [APPENDUID 1600000000 3] ...
     S: * 2 EXISTS
     S: * 2 RECENT
     S: * 1 EXPUNGE
     S: A2 OK
     C: A3 REPLACE 7 INBOX {3+}
     C: abc
     S: A3 BAD ...
     C: A4 UID REPLACE 77 INBOX {3+}
     C: abc
     S: A4 NO [NONEXISTENT]
     C: A5 REPLACE 1 nothing {3+}
     C: abc
     S: A5 NO [TRYCREATE]
     C: A6 EXAMINE INBOX
     S: *** A6 OK [READ-ONLY]
     C: A7 REPLACE 1 INBOX {3+}
     C: abc
     S: A7 NO [READ-ONLY]`,
  );
});

for (const verb of ['COPY', 'MOVE'] as const)
  test(`a message removed at the same moment: ${verb} by number is refused as a whole, UID ${verb} copies the rest`, async () => {
    const racing = (): MemoryStore => {
      const store = filled(3);
      const folder = store.folder.bind(store);
      store.folder = async (name) => {
        if (name === 'Archive') await store.expunge(1, [2], true);
        return folder(name);
      };
      return store;
    };
    await play(
      racing(),
      `${OPEN}
     C: a1 ${verb} 1:3 Archive
     S: * 2 EXPUNGE
     S: a1 NO [EXPUNGEISSUED]
     C: a2 STATUS Archive (MESSAGES)
     S: * STATUS Archive (MESSAGES 0)
     S: a2 OK`,
    );
    await play(
      racing(),
      `${OPEN}
     C: a1 UID ${verb} 1:3 Archive
     S: *** a1 OK ...
     C: a2 STATUS Archive (MESSAGES)
     S: * STATUS Archive (MESSAGES 2)
     S: a2 OK`,
    );
  });

test('COPY into a folder deleted in the very moment answers TRYCREATE', async () => {
  const store = filled(1);
  const folder = await store.createFolder('short', null);
  const copy = store.copy.bind(store);
  store.copy = async (...args) => {
    if (args[2] === folder.id) await store.deleteFolder('short');
    return copy(...args);
  };
  await play(
    store,
    `${OPEN}
     C: a1 COPY 1 short
     S: a1 NO [TRYCREATE]`,
  );
});
