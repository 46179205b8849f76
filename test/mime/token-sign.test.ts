import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mayHoldToken, numberTokens } from '#mime/codes/number-tokens.ts';

test('a line is passed over only where it holds no token, whatever is around it', () => {
  const held = ['482913', 'QKWZ', 'QKW-ZRT', 'blue-horse-lake', 'abcd-efgh', 'vwxyz-abcde', 'aBcdE', 'Qk4Z'];
  for (const token of held) {
    assert.notEqual(numberTokens(token, 10).length, 0, token);
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-zA-Z .,-]{0,20}$/),
        fc.stringMatching(/^[a-zA-Z .,-]{0,20}$/),
        (left, right) => {
          assert.ok(mayHoldToken(`${left} ${token} ${right}`));
        },
      ),
      { numRuns: 200 },
    );
  }
  for (const plain of ['', 'The quick brown fox. It jumps.', 'a - b', 'I Am A Fox'])
    assert.deepEqual([mayHoldToken(plain), numberTokens(plain, 10)], [false, []], plain);
});
