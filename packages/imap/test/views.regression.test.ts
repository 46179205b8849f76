import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('changes that a refused command read from the store are reported before its answer', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  store.deliver('INBOX', note('two'));
  await play(
    store,
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C2: s1 SELECT INBOX
     S2: *** s1 OK [READ-WRITE]
     C2: b1 UID REPLACE 1 INBOX {3+}
     C2: abc
     S2: * OK [APPENDUID 1600000000 3] ...
     S2: * 3 EXISTS
     S2: * 1 RECENT
     S2: * 1 EXPUNGE
     S2: b1 OK
     C: a1 MOVE 1 INBOX
     S: * 3 EXISTS
     S: * 2 RECENT
     S: * 1 EXPUNGE
     S: a1 NO [EXPUNGEISSUED]
     C: a2 FETCH 2:* UID
     S: * 2 FETCH (UID 3)
     S: a2 OK`,
  );
});
