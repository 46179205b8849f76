/** How output is gathered. What the answers are is in the dialogues of the other tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseWriter } from '#imap/wire/encoder.ts';

const PORTION = 32_768;

function writer() {
  const written: string[] = [];
  const outlet = {
    unwritten: 0,
    write: (bytes: Uint8Array) => void written.push(Buffer.from(bytes).toString('latin1')),
    drained: async () => {},
  };
  return { out: new ResponseWriter(outlet, PORTION), outlet, written };
}

test('texts and bytes between two flushes are one write, in their order', () => {
  const { out, written } = writer();
  out.text('* 1 FETCH ');
  out.bytes(Buffer.from('{3}'));
  out.line('é)');
  assert.deepEqual(written, []);
  out.flush();
  assert.deepEqual(written, ['* 1 FETCH {3}é)\r\n']);
});

test('a flush without output writes nothing: under compression even that would be bytes', () => {
  const { out, written } = writer();
  out.flush();
  out.text('x');
  out.flush();
  out.flush();
  assert.deepEqual(written, ['x']);
});

test('a full portion is written at once, and a large piece after what was gathered, as it is', () => {
  const { out, written } = writer();
  out.text('a'.repeat(PORTION - 1));
  assert.equal(written.length, 0);
  out.text('b');
  assert.deepEqual(
    written.map(({ length }) => length),
    [PORTION],
  );
  out.text('c');
  out.bytes(Buffer.alloc(PORTION, 'd'));
  assert.deepEqual(
    written.slice(1).map((text) => [text[0], text.length]),
    [
      ['c', 1],
      ['d', PORTION],
    ],
  );
});

test('more than the bound unsent makes the writer full, the bound itself does not', () => {
  const { out, outlet } = writer();
  outlet.unwritten = PORTION;
  assert.equal(out.full, false);
  outlet.unwritten++;
  assert.equal(out.full, true);
});
