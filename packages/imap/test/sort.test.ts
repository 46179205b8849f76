/** SORT (RFC 5256, RFC 5957, RFC 5267) and THREAD. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { threadSubject } from '#imap/search/sort-messages.ts';
import {
  orderedSubject,
  printThreads,
  referencesThreads,
  type Threadable,
  type ThreadNode,
} from '#imap/search/thread-messages.ts';
import { play } from './dialogue.ts';
import { GROUPED } from './grouped-mail.ts';
import { MemoryStore } from './memory-store.ts';

const mail = (fields: Record<string, string>): string =>
  `${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n\ntext\n`;

function letters(): MemoryStore {
  const store = new MemoryStore();
  const at = (day: number) => ({ internalDate: new Date(Date.UTC(2026, 0, day)) });
  store.deliver(
    'INBOX',
    mail({
      From: 'Zoe <ann@example.org>',
      To: 'x@example.org',
      Subject: 'Re: beta',
      Date: 'Thu, 3 Jan 2026 10:00:00 +0000',
    }),
    at(3),
  );
  store.deliver(
    'INBOX',
    mail({
      From: 'carl@example.org',
      To: 'Abe <z@example.org>',
      Cc: 'k@example.org',
      Subject: 'alpha',
      Date: 'Thu, 1 Jan 2026 10:00:00 +0000',
    }),
    at(1),
  );
  store.deliver(
    'INBOX',
    mail({
      From: '=?utf-8?q?=C3=84nne?= <bob@example.org>',
      To: 'm@example.org',
      Subject: '[list] beta (fwd)',
      Date: 'Thu, 2 Jan 2026 10:00:00 +0000',
      'X-Long': 'x'.repeat(100),
    }),
    at(2),
  );
  return store;
}
const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;

test('SORT orders by each key, REVERSE, and the order of the folder where equal', async () => {
  await play(
    letters(),
    `${OPEN}
     C: A1 SORT (ARRIVAL) UTF-8 ALL
     S: * SORT 2 3 1
     S: A1 OK
     C: A2 SORT (REVERSE DATE) UTF-8 ALL
     S: * SORT 1 3 2
     S: A2 OK
     C: A3 SORT (SUBJECT) US-ASCII ALL
     S: * SORT 2 1 3
     S: A3 OK
     C: A4 SORT (SUBJECT REVERSE ARRIVAL) UTF-8 ALL
     S: * SORT 2 1 3
     S: A4 OK
     C: A5 SORT (FROM) UTF-8 ALL
     S: * SORT 1 3 2
     S: A5 OK
     C: A6 SORT (DISPLAYFROM) UTF-8 ALL
     S: * SORT 3 2 1
     S: A6 OK
     C: A7 SORT (TO) UTF-8 ALL
     S: * SORT 3 1 2
     S: A7 OK
     C: A8 SORT (DISPLAYTO) UTF-8 ALL
     S: * SORT 2 3 1
     S: A8 OK
     C: A9 SORT (CC REVERSE SIZE) UTF-8 ALL
     S: * SORT 3 1 2
     S: A9 OK
     C: A10 UID SORT (SIZE) UTF-8 2:3
     S: * SORT 2 3
     S: A10 OK
     C: A11 SORT (SUBJECT) UTF-8 DRAFT
     S: * SORT
     S: A11 OK
     C: A12 SORT () UTF-8 ALL
     S: A12 BAD ...
     C: A13 SORT (SUBJECT) ALL
     S: A13 BAD ...
     C: A14 SORT (SUBJECT) X-NONE ALL
     S: A14 NO [BADCHARSET (US-ASCII UTF-8)] ...`,
  );
});

test('ESORT answers in the order of the sort (RFC 5267)', async () => {
  await play(
    letters(),
    `${OPEN}
     C: E01 UID SORT RETURN (MIN MAX COUNT) (REVERSE DATE) UTF-8 ALL
     S: * ESEARCH (TAG "E01") UID MIN 1 MAX 2 COUNT 3
     S: E01 OK
     C: E02 SORT RETURN (ALL SAVE) (ARRIVAL) UTF-8 ALL
     S: * ESEARCH (TAG "E02") ALL 2:3,1
     S: E02 OK
     C: E03 FETCH $ UID
     S: * 1 FETCH (UID 1)
     S: * 2 FETCH (UID 2)
     S: * 3 FETCH (UID 3)
     S: E03 OK`,
  );
});

test('base subjects come off as RFC 5256 §2.1 says', () => {
  const base = (subject: string) => threadSubject(subject).base;
  for (const [subject, expected, isReply] of [
    ['Re: hello', 'HELLO', true],
    ['re:  RE: Fwd: hello', 'HELLO', true],
    ['Fw: [list] re[2]: hello (fwd) ', 'HELLO', true],
    ['[list] hello', 'HELLO', false],
    ['[fwd: Re: hello]', 'HELLO', true],
    ['[only]', '[ONLY]', false],
    ['Aw: hello', 'AW: HELLO', false],
    ['  hello   world ', 'HELLO WORLD', false],
    ['Re:', '', true],
    ['', '', false],
  ] as const)
    assert.deepEqual(threadSubject(subject), { base: expected, isReply }, subject);
  assert.equal(base('ﬁne'), base('FINE'));
});

test('THREAD=ORDEREDSUBJECT puts one subject under its first message', async () => {
  await play(
    letters(),
    `${OPEN}
     C: A1 THREAD ORDEREDSUBJECT UTF-8 ALL
     S: * THREAD (2)(3 1)
     S: A1 OK
     C: A2 THREAD NONSENSE UTF-8 ALL
     S: A2 NO [CANNOT]
     C: A3 THREAD REFERENCES UTF-8 DRAFT
     S: * THREAD
     S: A3 OK`,
  );
});

test('THREAD=REFERENCES follows References and In-Reply-To, through messages that are missing', async () => {
  const store = new MemoryStore();
  const day = (n: number) => `${n} Jan 2026 10:00:00 +0000`;
  store.deliver('INBOX', mail({ 'Message-ID': '<a@x>', Subject: 'one', Date: day(1) }));
  store.deliver('INBOX', mail({ 'Message-ID': '<b@x>', 'In-Reply-To': '<a@x>', Subject: 'Re: one', Date: day(2) }));
  store.deliver('INBOX', mail({ 'Message-ID': '<d@x>', References: '<a@x> <c@x>', Subject: 'Re: one', Date: day(4) }));
  store.deliver('INBOX', mail({ 'Message-ID': '<e@x>', References: '<lost@x>', Subject: 'two', Date: day(5) }));
  store.deliver('INBOX', mail({ 'Message-ID': '<f@x>', References: '<lost@x>', Subject: 'three', Date: day(6) }));
  store.deliver('INBOX', mail({ Subject: 'alone', Date: day(3) }));
  store.deliver('INBOX', mail({ 'Message-ID': '<g@x>', Subject: 'Re: alone', Date: day(7) }));
  await play(
    store,
    `${OPEN}
     C: A1 THREAD REFERENCES UTF-8 ALL
     S: * THREAD (1 (2)(3))(6 7)((4)(5))
     S: A1 OK
     C: A2 UID THREAD REFERENCES US-ASCII 2:3
     S: * THREAD ((2)(3))
     S: A2 OK`,
  );
});

const message = fc.record({
  id: fc.nat(12),
  references: fc.array(fc.nat(12), { maxLength: 5 }),
  subject: fc.constantFrom('', 'A', 'B'),
  isReply: fc.boolean(),
  time: fc.nat(5),
});

test('whatever messages refer to, every one is in the threads exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (list) => {
      const messages: Threadable[] = list.map(({ id, references, subject, isReply, time }, i) => ({
        uid: i + 1,
        time,
        subject,
        isReply,
        messageId: id === 0 ? '' : `<${id}>`,
        references: references.map((each) => `<${each}>`),
      }));
      for (const threads of [await referencesThreads(messages), await orderedSubject(messages)]) {
        const seen: number[] = [];
        const walk = (node: ThreadNode) => {
          if (node.uid !== null) seen.push(node.uid);
          else assert.ok(node.children.length > 0, 'an empty node without children');
          node.children.forEach(walk);
        };
        threads.forEach(walk);
        assert.deepEqual(
          seen.sort((a, b) => a - b),
          messages.map(({ uid }) => uid),
        );
        const text = printThreads(threads, (uid) => uid);
        assert.deepEqual(
          (text.match(/\d+/g) ?? []).map(Number).sort((a, b) => a - b),
          seen,
        );
        assert.match(text, /^(\([\d ()]+\))*$/);
      }
    }),
    { numRuns: 500 },
  );
});

test('a chain of 20,000 answers is threaded without overflowing the stack', async () => {
  const messages: Threadable[] = Array.from({ length: 20_000 }, (_, i) => ({
    uid: i + 1,
    time: i,
    subject: '',
    isReply: true,
    messageId: `<${i}>`,
    references: i === 0 ? [] : [`<${i - 1}>`],
  }));
  const text = printThreads(await referencesThreads(messages), (uid) => uid);
  assert.equal(text.split(' ').length, 20_000);
});

test('150,000 answers to one message, and as many of one subject, are threaded without overflowing the stack', async () => {
  const messages: Threadable[] = Array.from({ length: 150_000 }, (_, i) => ({
    uid: i + 1,
    time: i,
    subject: 'A',
    isReply: i > 0,
    messageId: `<${i}>`,
    references: i === 0 ? [] : ['<0>'],
  }));
  for (const threads of [await referencesThreads(messages), await orderedSubject(messages)])
    assert.equal(printThreads(threads, (uid) => uid).match(/\d+/g)?.length, 150_000);
});

test('addresses are compared by their local part, a group by its name if it is first (RFC 5256 §3)', async () => {
  const store = new MemoryStore();
  for (const fields of GROUPED) store.deliver('INBOX', mail(fields));
  await play(
    store,
    `${OPEN}
     C: a1 SORT (FROM) UTF-8 ALL
     S: * SORT 3 1 2
     S: a1 OK
     C: a2 SORT (TO) UTF-8 ALL
     S: * SORT 2 1 3
     S: a2 OK
     C: a3 SORT (CC) UTF-8 ALL
     S: * SORT 3 2 1
     S: a3 OK
     C: a4 SORT (DISPLAYTO) UTF-8 ALL
     S: * SORT 2 1 3
     S: a4 OK`,
  );
});
