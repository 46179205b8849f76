/** Header lines from the index are byte for byte what the message itself gives, and so is the answer to FETCH. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyLines, headerIndex, isListed, wantedFields } from '@agent-mailbox/mail-store/header-index';
import { CLIENT_REQUESTS, LISTED_FIELDS } from '@agent-mailbox/mail-store/listed-fields';
import { indexMessage } from '@agent-mailbox/mime-structure/index-message';
import fc from 'fast-check';
import { MessageBytes, sectionBytes } from '#imap/fetch/message-content.ts';
import { MemoryStore } from './memory-store.ts';
import { connectRaw } from './raw-client.ts';

/** Headers as they should not be: folded, repeated, in any case, without colon, with bare LF, cut off. */
const name = fc.oneof(
  fc.constantFrom(...LISTED_FIELDS).chain((each) => fc.constantFrom(each, each.toUpperCase(), ` ${each}`, `${each} `)),
  fc.constantFrom('X-Other', 'Received', 'To\t', '', 'no colon'),
);
const value = fc
  .array(
    fc.constantFrom('a', 'Émile', '=?utf-8?q?=C3=A9?=', ' ', '\t', '\r\n ', '\n\t', '\r', ':', '<a@b>', '\0', '\r\n'),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));
const line = fc.tuple(name, fc.constantFrom(':', ': ', ''), value, fc.constantFrom('\r\n', '\r\n', '\n', '\r\n '));
const message = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('\r\n', '\n', ''), fc.constantFrom('', 'Subject: body\r\n'))
  .map(([lines, empty, body]) => Buffer.from(`${lines.flat().join('')}${empty}${body}`, 'latin1'));
const names = fc.uniqueArray(fc.constantFrom(...LISTED_FIELDS), { minLength: 1, maxLength: LISTED_FIELDS.length });

async function fromBytes(bytes: Buffer, fields: readonly string[]): Promise<Buffer> {
  const section = { path: [], text: { kind: 'fields', not: false, names: fields }, printed: '' } as const;
  const whole = new MessageBytes(new MemoryStore(), 'none', bytes.length, bytes);
  const found = await sectionBytes(indexMessage(bytes), section, whole);
  assert.ok(found?.kind === 'bytes');
  return Buffer.from(found.bytes);
}

/** Undefined: the message must be read. */
function fromIndex(bytes: Buffer, fields: readonly string[]): Buffer | undefined {
  const { lines, longLines } = headerIndex(bytes, indexMessage(bytes));
  const wanted = wantedFields(fields) ?? assert.fail('a field is not listed');
  // As in a buffer with the lists of many messages.
  const before = Buffer.from('before');
  const [short, long] = [lines, longLines].map((list) => {
    const all = Buffer.concat([before, list, before]);
    return { bytes: all, from: before.length, to: before.length + list.length };
  });
  assert.ok(short !== undefined && long !== undefined);
  if (!isListed(short) || (wanted.long && !isListed(long))) return undefined;
  const target = Buffer.alloc(lines.length + longLines.length);
  const end = copyLines(wanted, short, wanted.long ? long : undefined, target, 0);
  return Buffer.concat([target.subarray(0, end), Buffer.from('\r\n')]);
}

test('the index gives the bytes of the message, for any listed fields of any header', async () => {
  let indexed = 0;
  await fc.assert(
    fc.asyncProperty(message, names, async (bytes, fields) => {
      const lines = fromIndex(bytes, fields);
      // Lines with a NUL are shown otherwise than they are: such messages are read.
      if (lines === undefined) return assert.ok(bytes.includes(0));
      indexed++;
      assert.equal(lines.toString('latin1'), (await fromBytes(bytes, fields)).toString('latin1'));
    }),
    { numRuns: 2_000 },
  );
  assert.ok(indexed > 500, `${indexed} of 2,000 headers were indexed`);
});

test('long lines are left to the message', () => {
  const many = (field: string, size: number) => Buffer.from(`${field}: ${'x'.repeat(size)}\r\nDate: d\r\n\r\n`);
  assert.equal(fromIndex(many('Subject', 4_000), ['date']), undefined);
  assert.equal(fromIndex(many('DKIM-Signature', 9_000), ['date'])?.toString(), 'Date: d\r\n\r\n');
  assert.equal(fromIndex(many('DKIM-Signature', 9_000), ['date', 'dkim-signature']), undefined);
  const fields = Buffer.from('To: a\r\n'.repeat(300));
  assert.equal(fromIndex(fields, ['to']), undefined);
});

test('every field that a client asks for is listed', () => {
  for (const [client, fields] of Object.entries(CLIENT_REQUESTS))
    assert.notEqual(wantedFields(fields.split(' ')), undefined, client);
  assert.equal(wantedFields(['subject', 'x-other']), undefined);
});

/** A host without an index. */
class PlainStore extends MemoryStore {}
Object.defineProperty(PlainStore.prototype, 'listed', { value: undefined });

test('FETCH answers the same with and without an index', async () => {
  const stores = [new MemoryStore(), new PlainStore()];
  for (const store of stores) {
    store.deliver(
      'INBOX',
      'Subject: one\r\nFrom: a@b\r\n folded\r\nDKIM-Signature: v=1\r\nSubject: again\r\n\r\nHello\r\n',
    );
    store.deliver('INBOX', 'From: c@d\n\nHello\n');
    store.deliver('INBOX', `Subject: ${'x'.repeat(5_000)}\r\nFrom: long\r\n\r\nHello\r\n`);
    store.deliver('INBOX', 'no header\r\n');
    store.deliver('INBOX', 'Subject: nul \0\r\n\r\nHello\r\n');
  }
  const commands = [
    ...Object.values(CLIENT_REQUESTS).map((fields) => `(UID RFC822.SIZE FLAGS BODY.PEEK[HEADER.FIELDS (${fields})])`),
    '(UID INTERNALDATE MODSEQ BODY.PEEK[HEADER.FIELDS (Subject "from")])',
    '(FLAGS BODY.PEEK[HEADER.FIELDS (Subject X-Other)])',
    '(UID BODY.PEEK[HEADER.FIELDS (Subject)]<3.5> RFC822.SIZE)',
    '(UID BODY.PEEK[HEADER.FIELDS.NOT (Subject)])',
    '(UID BODY.PEEK[1.HEADER.FIELDS (Subject)])',
    '(UID BODY[HEADER.FIELDS (Subject)])',
  ];
  const answers = await Promise.all(
    stores.map(async (store) => {
      const client = await connectRaw(store);
      const lists: string[][] = [];
      for (const items of commands) {
        const text = (await client.command(`FETCH 1:* ${items}`)).toString('latin1');
        // Messages that are read are answered behind the others.
        lists.push(text.split(/(?=^\* \d+ FETCH)/m).sort());
      }
      await client.close();
      return lists;
    }),
  );
  assert.equal(answers[0]?.[0]?.filter((each) => each.includes(' FETCH (')).length, 5);
  assert.deepEqual(answers[0], answers[1]);
});
