/** Decoding slice by slice gives what decoding at once gives, wherever the slices are cut. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import fc from 'fast-check';
import { decodedPartSize, decodedSlices, MessageBytes } from '#imap/fetch/message-content.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';
import { connectRaw } from './raw-client.ts';

/** A message cut into slices at given places. */
class CutBytes extends MessageBytes {
  readonly #bytes: Uint8Array;
  readonly #step: number;
  constructor(bytes: Uint8Array, step: number) {
    super(new MemoryStore(), 'none', bytes.length, bytes);
    this.#bytes = bytes;
    this.#step = step;
  }
  override async *slices(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; at += this.#step) yield this.#bytes.subarray(at, Math.min(to, at + this.#step));
  }
}

const noisy = fc
  .array(fc.constantFrom('A', 'b', '9', '+', '/', '=', '=\r\n', '=3D', '=3', ' ', '\t', '\r\n', '\n', '\r', 'é', '-'), {
    maxLength: 60,
  })
  .map((parts) => Buffer.from(parts.join(''), 'latin1'));

test('slices join to the whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      noisy,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('base64' as const, 'quoted-printable' as const),
      fc.nat(40),
      fc.nat(40),
      async (bytes, step, encoding, from, length) => {
        const expected = Buffer.from(decodeTransfer(bytes, encoding));
        const message = new CutBytes(bytes, step);
        const part = { from: 0, to: bytes.length, encoding };
        assert.equal(await decodedPartSize(message, part), expected.length);
        const pieces: Uint8Array[] = [];
        for await (const piece of decodedSlices(message, part, from, from + length)) pieces.push(piece);
        assert.deepEqual(Buffer.concat(pieces), expected.subarray(from, from + length));
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a large attachment is decoded as it is sent', async () => {
  const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
  const lines = content.toString('base64').replace(/.{76}/g, '$&\n');
  const store = new MemoryStore();
  store.deliver('INBOX', note('large', 'Content-Type: image/x-raw\nContent-Transfer-Encoding: base64\n', lines));
  const client = await connectRaw(store);
  const size = await client.command('FETCH 1 BINARY.SIZE[1]');
  assert.equal(size.toString(), '* 1 FETCH (BINARY.SIZE[1] 3000000)\r\n');
  const whole = await client.command('FETCH 1 BINARY.PEEK[1]');
  const start = '* 1 FETCH (BINARY[1] ~{3000000}\r\n';
  assert.equal(whole.subarray(0, start.length).toString(), start);
  assert.ok(whole.subarray(start.length, -3).equals(content));
  const part = await client.command('FETCH 1 BINARY.PEEK[1]<1500000.10>');
  assert.ok(part.subarray(part.indexOf('\r\n') + 2, -3).equals(content.subarray(1_500_000, 1_500_010)));
  await client.close();
});
