import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wireGrowth } from '@agent-mailbox/mime-structure/index-message';
import fc from 'fast-check';
import { LineReader, MultilineEncoder } from '#pop3/lines.ts';

const bytes = fc
  .array(fc.constantFrom(0x0d, 0x0a, 0x2e, 0x41, 0xff), { maxLength: 60 })
  .map((each) => Buffer.from(each));
/** Bytes and where they are cut. */
const chunked = fc.tuple(bytes, fc.array(fc.nat(60), { maxLength: 6 })).map(([whole, cuts]) => {
  const ends = [...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].toSorted((a, b) => a - b);
  return { whole, chunks: ends.map((end, index) => whole.subarray(index === 0 ? 0 : ends[index - 1], end)) };
});

const encode = (chunks: readonly Buffer[]): Buffer => {
  const encoder = new MultilineEncoder();
  return Buffer.concat([...chunks.map((chunk) => encoder.push(chunk)), encoder.end()]);
};

test('any chunking of a message gives the same answer', () => {
  fc.assert(fc.property(chunked, ({ whole, chunks }) => assert.deepEqual(encode(chunks), encode([whole]))));
});

test('an answer unstuffed is the message with CRLF line ends, of the size that LIST says', () => {
  fc.assert(
    fc.property(bytes, (message) => {
      const sent = encode([message]).toString('latin1');
      assert.ok(sent.endsWith('.\r\n') && (sent === '.\r\n' || sent.endsWith('\r\n.\r\n')));
      const unstuffed = sent.slice(0, -3).replace(/(^|\r\n)\./g, '$1');
      let expected = message.toString('latin1').replace(/\r?\n/g, '\r\n');
      if (expected !== '' && !expected.endsWith('\n')) expected += '\r\n';
      assert.equal(unstuffed, expected);
      assert.equal(unstuffed.length, message.length + wireGrowth(message));
      assert.ok(!/(^|\r\n)\.\r\n./s.test(sent), 'a dot alone stands at the end only');
    }),
    { numRuns: 2_000 },
  );
});

test('any chunking of input gives the same lines', () => {
  const lines = (chunks: readonly Buffer[]) => {
    const reader = new LineReader();
    const found: unknown[] = [];
    for (const chunk of chunks) {
      reader.push(chunk);
      for (let line = reader.next(20); line !== undefined; line = reader.next(20)) found.push(line);
    }
    return found;
  };
  fc.assert(fc.property(chunked, ({ whole, chunks }) => assert.deepEqual(lines(chunks), lines([whole]))));
});

test('an endless line costs no more than its limit', () => {
  const reader = new LineReader();
  for (let count = 0; count < 1_000; count++) {
    reader.push(Buffer.alloc(1_000, 0x41));
    assert.equal(reader.next(512), undefined);
    assert.equal(reader.waiting, 0);
  }
  reader.push(Buffer.from('end\r\nNOOP\r\n'));
  assert.equal(reader.next(512), 'too-long');
  assert.deepEqual(reader.next(512), { text: 'NOOP' });
});
