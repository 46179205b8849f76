/** Sets against a naive model: a set is the numbers one would write down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contains,
  missingRanges,
  normalize,
  parseSequenceSet,
  printRanges,
  printSet,
  type Range,
  SequenceMap,
  STAR,
} from '#imap/session/sequence-numbers.ts';
import { Scanner } from '#imap/wire/parser.ts';
import { decodeModifiedUtf7, encodeModifiedUtf7 } from '#imap/wire/values.ts';

const bound = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constant(STAR));
const ranges = fc.array(fc.tuple(bound, bound), { minLength: 1, maxLength: 8 });
const largest = fc.integer({ min: 1, max: 50 });
const uids = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 })
  .map((list) => list.sort((a, b) => a - b));

function naive(set: readonly Range[], last: number): Set<number> {
  const numbers = new Set<number>();
  for (const [a, b] of set) {
    const low = Math.min(a === STAR ? last : a, b === STAR ? last : b);
    const high = Math.max(a === STAR ? last : a, b === STAR ? last : b);
    for (let n = low; n <= high; n++) numbers.add(n);
  }
  return numbers;
}

const written = (set: readonly Range[]): string =>
  set.map(([a, b]) => (a === b ? `${a}` : `${a}:${b}`).replaceAll('Infinity', '*')).join(',');
const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);
const mapOf = (list: readonly number[]): SequenceMap =>
  new SequenceMap({
    uids: Uint32Array.from(list),
    modseqs: new Float64Array(list.length),
    flags: new Uint8Array(list.length),
    keywords: new Map(),
  });

test('a printed set is parsed to the same set', () => {
  fc.assert(
    fc.property(ranges, (set) => {
      const read = parseSequenceSet(new Scanner(written(set), []));
      assert.deepEqual(read, { kind: 'ranges', ranges: set });
    }),
  );
});

test('normalized ranges contain the same numbers, ascending and disjoint', () => {
  fc.assert(
    fc.property(ranges, largest, (set, last) => {
      const normal = normalize(set, last);
      const model = naive(set, last);
      assert.deepEqual(ascending(naive(normal, last)), ascending(model));
      for (const [i, [low]] of normal.entries()) if (i > 0) assert.ok(low > (normal[i - 1]?.[1] ?? 0) + 1);
      for (let n = 1; n <= 55; n++) assert.equal(contains(normal, n), model.has(n), String(n));
      assert.equal(printRanges(normal), printSet(ascending(model)));
    }),
  );
});

test('missing numbers are those of the set that are not there', () => {
  fc.assert(
    fc.property(ranges, largest, uids, (set, last, present) => {
      const normal = normalize(set, last);
      const model = ascending(naive(normal, last)).filter((n) => !present.includes(n));
      assert.deepEqual(ascending(naive(missingRanges(normal, present), last)), model);
    }),
  );
});

test('a UID set finds the UIDs that exist; "*" is the last one, also from above it', () => {
  fc.assert(
    fc.property(ranges, uids, (set, list) => {
      const last = list.at(-1) ?? 0;
      const model = naive(set, last);
      const found = mapOf(list).indicesOfUids(set);
      assert.deepEqual(
        found.map((index) => list[index]),
        list.filter((uid) => model.has(uid)),
      );
    }),
  );
});

test('a set of numbers finds all or is out of range', () => {
  fc.assert(
    fc.property(ranges, uids, (set, list) => {
      const found = mapOf(list).indicesOfNumbers(set);
      const model = ascending(naive(set, list.length));
      if (list.length > 0 && model.every((n) => n <= list.length))
        assert.deepEqual(
          found,
          model.map((n) => n - 1),
        );
      else if (list.length > 0) assert.equal(found, undefined);
    }),
  );
});

test('the cost of a range does not grow with its width', () => {
  const map = mapOf([3, 7]);
  /** CPU time of many look-ups, in microseconds. */
  const costOf = (last: number): number => {
    const before = process.cpuUsage();
    for (let count = 0; count < 200; count++) assert.equal(map.indicesOfUids([[1, last]])?.length, 2);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  costOf(7);
  // Below a millisecond the clock and the collector are what is measured.
  const [narrow, wide] = [Math.max(1_000, costOf(7)), costOf(1_000_000)];
  assert.ok(wide < 20 * narrow, `1:7 took ${narrow} µs, 1:1000000 ${wide} µs`);
  assert.deepEqual(map.indicesOfUids([[1, 4_294_967_295]]), [0, 1]);
});

test('a map under appends and removals equals a plain list', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 80 }) }),
    fc.record({ kind: fc.constant('remove' as const), which: fc.uniqueArray(fc.nat(100), { maxLength: 10 }) }),
    fc.record({ kind: fc.constant('flag' as const), at: fc.nat(100), flags: fc.nat(31) }),
  );
  fc.assert(
    fc.property(uids, fc.array(step, { maxLength: 20 }), (list, steps) => {
      const shared = Uint32Array.from(list);
      const map = new SequenceMap({
        uids: shared,
        modseqs: new Float64Array(list.length),
        flags: new Uint8Array(list.length),
        keywords: new Map(),
      });
      let model = list.map((uid) => ({ uid, flags: 0 }));
      let next = 61;
      for (const each of steps) {
        if (each.kind === 'append')
          for (let i = 0; i < each.count; i++) {
            map.append({ uid: next, modseq: next, flags: 1, keywords: ['k'] });
            model.push({ uid: next++, flags: 1 });
          }
        else if (each.kind === 'remove') {
          const indices = ascending(each.which.filter((index) => index < model.length));
          map.remove(indices);
          model = model.filter((_, i) => !indices.includes(i));
        } else if (each.at < model.length) {
          const known = model[each.at];
          if (known === undefined) continue;
          known.flags = each.flags;
          map.set(each.at, { uid: known.uid, modseq: 1, flags: each.flags, keywords: [] });
        }
        assert.equal(map.count, model.length);
        assert.deepEqual(
          model,
          Array.from(map.uids, (uid, i) => ({ uid, flags: map.flagsAt(i) })),
        );
        for (const [i, { uid }] of model.entries()) assert.equal(map.indexOf(uid), i);
      }
      assert.deepEqual([...shared], list, 'the shared view was written to');
    }),
  );
});

test('modified UTF-7 gives every name back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
      if (!name.isWellFormed()) return;
      const wire = encodeModifiedUtf7(name);
      assert.match(wire, /^[\x20-\x7e]*$/);
      assert.equal(decodeModifiedUtf7(wire), name);
    }),
  );
});

test('modified UTF-7 reads the examples of RFC 3501 §5.1.3 and nothing that has another spelling', () => {
  assert.equal(decodeModifiedUtf7('~peter/mail/&U,BTFw-/&ZeVnLIqe-'), '~peter/mail/台北/日本語');
  assert.equal(encodeModifiedUtf7('~peter/mail/台北/日本語'), '~peter/mail/&U,BTFw-/&ZeVnLIqe-');
  assert.equal(encodeModifiedUtf7('Entwürfe & mehr'), 'Entw&APw-rfe &- mehr');
  for (const wrong of ['&Jjo!', '&U,BTFw-&ZeVnLIqe-', '&', '&AGE-', 'é', '&2AA-', '&A-']) {
    assert.equal(decodeModifiedUtf7(wrong), undefined, wrong);
  }
});

test('any text is decoded or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('&', '-', 'A', 'B', ',', '+', '2', ' ') }), (text) => {
      const name = decodeModifiedUtf7(text);
      if (name !== undefined) assert.equal(encodeModifiedUtf7(name), text);
    }),
  );
});
