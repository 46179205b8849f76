import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('NOOP sends EXISTS first, then removals highest first, then flags', async () => {
  const store = new MemoryStore();
  for (const subject of ['one', 'two', 'three', 'four']) store.deliver('INBOX', note(subject));
  await play(
    store,
    `C: a1 SELECT INBOX
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)
     S: * 4 EXISTS
     S: * 4 RECENT
     S: * OK [UNSEEN 1] ...
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)] ...
     S: * OK [UIDVALIDITY 1600000000] ...
     S: * OK [UIDNEXT 5] ...
     S: * OK [HIGHESTMODSEQ 5] ...
     S: * OK [MAILBOXID (F1)] ...
     S: a1 OK [READ-WRITE]
     C2: b1 SELECT INBOX
     S2: * FLAGS ...
     S2: * 4 EXISTS
     S2: * 0 RECENT
     S2: * OK [UNSEEN 1] ...
     S2: * OK [PERMANENTFLAGS ...
     S2: * OK [UIDVALIDITY ...
     S2: * OK [UIDNEXT ...
     S2: * OK [HIGHESTMODSEQ ...
     S2: * OK [MAILBOXID ...
     S2: b1 OK [READ-WRITE]
     C2: b2 STORE 1,3 +FLAGS.SILENT (\\Deleted)
     S2: b2 OK
     C2: b3 EXPUNGE
     S2: * 3 EXPUNGE
     S2: * 1 EXPUNGE
     S2: b3 OK
     C2: b4 STORE 2 +FLAGS (work \\Seen)
     S2: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work)
     S2: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work \\*)] ...
     S2: * 2 FETCH (FLAGS (\\Seen work))
     S2: b4 OK
     C2: b5 COPY 1 INBOX
     S2: * 3 EXISTS
     S2: * 1 RECENT
     S2: b5 OK [COPYUID 1600000000 2 5]
     C: a2 NOOP
     S: * 5 EXISTS
     S: * 4 RECENT
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work)
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work \\*)] ...
     S: * 3 EXPUNGE
     S: * 1 EXPUNGE
     S: * 2 FETCH (FLAGS (\\Seen work \\Recent))
     S: a2 OK NOOP completed
     C: a3 NOOP
     S: a3 OK NOOP completed`,
  );
});
