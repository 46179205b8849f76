import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHardBounce } from '#domain/sending/outbound.ts';
import { accepted, failure } from '#sending/transports/smtp-outcome.ts';

const said = (response: string, command = 'RCPT TO') =>
  failure(
    Object.assign(new Error('refused'), { command, response, responseCode: Number(response.slice(0, 3)) }),
    'mx.test',
  );

test('the enhanced code is the one after the reply code, not one in an address or a link', () => {
  assert.deepEqual(said('550 5.1.1 no such user'), {
    kind: 'failed',
    code: '5.1.1',
    reply: '550 5.1.1 no such user',
    remoteMta: 'mx.test',
  });
  assert.equal(said('550-first line\n550 5.7.26 second').code, '5.7.26');
  assert.equal(said('550 Your address 5.1.100.20 is blocked').code, '5.0.0');
  assert.equal(said('554 see https://example.com/5.1.1 for more').code, '5.0.0');
  assert.equal(said('550 5.1.100.20 is blocked').code, '5.0.0');
});

test('the class of a code is that of the reply', () => {
  assert.equal(said('550 4.7.1 never').code, '5.7.1');
  assert.equal(said('451 5.7.1 later').code, '4.7.1');
  assert.equal(accepted({ response: '250 ok' }, 'mx.test').code, '2.0.0');
  assert.equal(said('554 5.7.1 go away', 'CONN').code, '4.7.1');
});

test('an error about the sender puts no recipient onto the suppression list', () => {
  assert.deepEqual(['5.1.1', '5.1.2', '5.1.10', '5.1.7', '5.1.8', '5.7.1'].map(isHardBounce), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('words of another host are one line of storable text', () => {
  const { reply } = said(`550 5.7.1 a\0b\x1b[31m\r\n${'x'.repeat(2_000)}`);
  assert.match(reply, /^550 5\.7\.1 a b \[31m x+$/);
  assert.equal(reply.length, 500);
  assert.equal(accepted({ response: '250 \0ok' }, 'mx.test').reply, '250 ok');
});
