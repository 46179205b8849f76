import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newId } from '#core/platform/new-id.ts';
import { encodeIdBody, firstIdAt, ID_PREFIXES, type IdKind, idPattern, isId, timeOfIdMs } from '#domain/ids.ts';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];

test('an id holds its time, has the form of its kind, and no id repeats', () => {
  const ids = new Set<string>();
  for (let i = 0; i < 20_000; i++) {
    const kind = kinds[i % kinds.length] ?? 'event';
    const timeMs = 1_700_000_000_000 + i * 37;
    const id = newId(kind, timeMs);
    assert.equal(timeOfIdMs(id), timeMs);
    assert.ok(isId(kind, id));
    assert.match(id, new RegExp(idPattern(kind)));
    ids.add(id);
  }
  assert.equal(ids.size, 20_000);
});

test('ids sort by time as text', () => {
  fc.assert(
    fc.property(fc.nat(4e12), fc.nat(4e12), (a, b) => {
      const [first, second] = [newId('event', Math.min(a, b)), newId('event', Math.max(a, b) + 1)];
      assert.ok(first < second);
    }),
  );
});

test('the bound of a time lies at or below every id made then, and above every one made before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4e12 }), (timeMs) => {
      assert.ok(firstIdAt('delivery', timeMs) <= newId('delivery', timeMs));
      assert.ok(firstIdAt('delivery', timeMs) > newId('delivery', timeMs - 1));
    }),
  );
});

test('ids are UUIDv7 in base32: version and variant are set', () => {
  const body = newId('event').slice(4);
  let value = 0n;
  for (const character of body) value = value * 32n + BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(character));
  const hex = value.toString(16).padStart(32, '0');
  assert.equal(hex[12], '7');
  assert.match(hex[16] ?? '', /[89ab]/);
  assert.equal(encodeIdBody(Buffer.from(hex, 'hex')), body);
});
