/** Dates and times: what cannot exist is BAD wherever one is read, and INTERNALDATE keeps its zone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Scanner } from '#imap/wire/parser.ts';
import { parseDateTime, printDateTime } from '#imap/wire/values.ts';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const NO_DAYS = [
  '31-Feb-2020',
  '30-Feb-2020',
  '29-Feb-2021',
  '29-Feb-1900',
  '31-Apr-2026',
  '0-Jan-2026',
  '00-Jan-2026',
];
const NO_DATES = [...NO_DAYS, '32-Jan-2026', '1-Foo-2026', '1-Jan-0000', '99-Dec-2026'];
const DATE_KEYS = ['', 'SENT', 'SAVED'].flatMap((prefix) =>
  ['BEFORE', 'ON', 'SINCE'].map((word) => `${prefix}${word}`),
);

test('a day that does not exist is BAD with every key of SEARCH that takes a date', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  const client = await loggedIn(store, { limits: { badCommandsMax: 1_000 } });
  await client.command('s', 'SELECT INBOX');
  for (const key of DATE_KEYS)
    for (const date of NO_DATES)
      for (const written of [date, `"${date}"`])
        for (const command of ['SEARCH', 'SORT (DATE) UTF-8', 'THREAD REFERENCES UTF-8'])
          assert.match(
            (await client.command('q', `${command} ${key} ${written}`)).at(-1) ?? '',
            /^q BAD Expected a valid date/,
            `${command} ${key} ${written}`,
          );
  for (const date of ['29-Feb-2020', '"1-Feb-2020"', '01-feb-2020', '31-Dec-9999', '1-Jan-0001'])
    assert.match((await client.command('q', `SEARCH SINCE ${date}`)).at(-1) ?? '', /^q OK/, date);
  await client.close();
});

const NO_TIMES = [
  ...NO_DAYS.map((day) => `${day.padStart(11, ' ')} 10:00:00 +0000`),
  '01-Feb-2026 24:00:00 +0000',
  '01-Feb-2026 10:60:00 +0000',
  '01-Feb-2026 10:00:61 +0000',
  '01-Feb-2026 10:00:60 +0000',
  '31-Dec-2016 23:59:60 +0100',
  '01-Feb-2026 10:00:00 +0060',
  '01-Feb-2026 10:00:00 +2400',
  '01-Jan-0000 10:00:00 +0000',
  '01-Jan-0001 00:00:00 +1400',
  '31-Dec-9999 23:59:59 -1200',
];

test('a time that does not exist is BAD in APPEND and REPLACE, and stores nothing', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  const client = await loggedIn(store, { limits: { badCommandsMax: 1_000 } });
  await client.command('s', 'SELECT INBOX');
  for (const command of ['APPEND INBOX', 'REPLACE 1 INBOX'])
    for (const time of NO_TIMES)
      assert.match((await client.command('a', `${command} "${time}" {3+}\r\nabc`)).at(-1) ?? '', /^a BAD/, time);
  assert.deepEqual(await client.command('s', 'STATUS INBOX (MESSAGES)'), [
    '* STATUS INBOX (MESSAGES 1)',
    's OK STATUS completed',
  ]);
  await client.close();
});

test('INTERNALDATE keeps the zone of APPEND, through COPY and MOVE, and SEARCH uses the day in that zone', async () => {
  await play(
    new MemoryStore(),
    `C: a1 APPEND INBOX "01-Feb-2026 00:30:00 +0530" {3+}
     C: abc
     S: a1 OK [APPENDUID 1600000000 1]
     C: a2 APPEND INBOX "31-Jan-2026 23:30:00 -0800" {3+}
     C: abc
     S: a2 OK [APPENDUID 1600000000 2]
     C: a3 APPEND INBOX "31-Dec-2016 23:59:60 +0000" {3+}
     C: abc
     S: a3 OK [APPENDUID 1600000000 3]
     C: a4 SELECT INBOX
     S: *** a4 OK [READ-WRITE]
     C: a5 COPY 1 Archive
     S: a5 OK [COPYUID 1600000003 1 1]
     C: a6 FETCH 1:3 INTERNALDATE
     S: * 1 FETCH (INTERNALDATE " 1-Feb-2026 00:30:00 +0530")
     S: * 2 FETCH (INTERNALDATE "31-Jan-2026 23:30:00 -0800")
     S: * 3 FETCH (INTERNALDATE " 1-Jan-2017 00:00:00 +0000")
     S: a6 OK
     C: a7 SEARCH ON 1-Feb-2026
     S: * SEARCH 1
     S: a7 OK
     C: a8 SEARCH ON 31-Jan-2026
     S: * SEARCH 2
     S: a8 OK
     C: a9 SORT (ARRIVAL) UTF-8 1,2
     S: * SORT 1 2
     S: a9 OK
     C: a10 SELECT Archive
     S: *** a10 OK [READ-WRITE]
     C: a11 FETCH 1 INTERNALDATE
     S: * 1 FETCH (INTERNALDATE " 1-Feb-2026 00:30:00 +0530")
     S: a11 OK`,
  );
});

test('a printed date is parsed as the same moment and zone', () => {
  const minutes = fc.integer({ min: -1_439, max: 1_439 });
  const seconds = fc.integer({ min: -62_000_000_000, max: 253_000_000_000 });
  fc.assert(
    fc.property(seconds, minutes, (second, offsetMinutes) => {
      const time = new Date(second * 1_000);
      assert.deepEqual(parseDateTime(new Scanner(printDateTime(time, offsetMinutes), [])), { time, offsetMinutes });
    }),
  );
});
