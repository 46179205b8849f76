/** Addresses as requests give them: text, not bytes of a header field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddresses } from '#sending/compose/compose-message.ts';

const only = (text: string) => readAddresses([text], '/to')[0];

test('a domain in another script stays that domain, and does not become another one', () => {
  // The low byte of the Cyrillic letter is the digit 0.
  assert.equal(only('pay@p\u0430ypal.example')?.address, 'pay@p\u0430ypal.example');
  assert.equal(only('ann@b\u00fccher.example')?.address, 'ann@b\u00fccher.example');
  assert.equal(
    only('Ann <\u043f\u043e\u0447\u0442\u0430@\u4f8b\u3048.example>')?.address,
    '\u043f\u043e\u0447\u0442\u0430@\u4f8b\u3048.example',
  );
});

test('names keep letters of every script', () => {
  for (const name of [
    'Zo\u00eb',
    '\u0141ukasz \u017bak',
    '\u0410\u043d\u043d\u0430',
    '\u5c71\u7530',
    'Robot \u{1f916}',
  ])
    assert.deepEqual(only(`${name} <a@b.example>`), { name, address: 'a@b.example' });
});

test('no letter becomes a character that ends an address or a line', () => {
  // Their low bytes are a line feed, a comma, a less-than sign, an at sign.
  for (const letter of ['\u010a', '\u012c', '\u013c', '\u0140']) {
    assert.equal(only(`x${letter}y <a@b.example>`)?.name, `x${letter}y`);
    assert.equal(only(`x${letter}y@b.example`)?.address, `x${letter}y@b.example`);
  }
});
