import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf, sourceOf } from '#core/platform/addresses/source-address.ts';

test('a source is what one customer gets, a network what one tenant can have of them', () => {
  for (const [address, source, network] of [
    ['192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['2001:db8:1:2:3::4', '2001:db8:1:2::', '2001:db8:1::'],
    ['no address', 'no address', 'no address'],
  ] as const)
    assert.deepEqual([sourceOf(address), networkOf(address)], [source, network]);
});
