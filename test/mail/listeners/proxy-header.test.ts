import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readProxyHeader } from '#mail/proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const v2 = (hex: string) => Buffer.from(SIGNATURE + hex, 'hex');

test('version 1 names the client', () => {
  const text = 'PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n';
  assert.deepEqual(readProxyHeader(Buffer.from(`${text}NOOP\r\n`)), {
    kind: 'complete',
    bytes: text.length,
    source: { address: '203.0.113.7', port: 56324 },
  });
  const six = 'PROXY TCP6 2001:db8::7 2001:db8::1 1 65535\r\n';
  assert.deepEqual(readProxyHeader(Buffer.from(six)), {
    kind: 'complete',
    bytes: six.length,
    source: { address: '2001:db8::7', port: 1 },
  });
  assert.deepEqual(readProxyHeader(Buffer.from('PROXY UNKNOWN\r\n')), { kind: 'complete', bytes: 15, source: null });
});

test('version 2 names the client, and may carry extensions', () => {
  const four = v2('21110010cb007107c0000201dc0401bb' + '04000100');
  assert.deepEqual(readProxyHeader(Buffer.concat([four, Buffer.from('EHLO')])), {
    kind: 'complete',
    bytes: four.length,
    source: { address: '203.0.113.7', port: 56324 },
  });
  const six = v2('21210024' + '20010db8000000000000000000000007' + '20010db8000000000000000000000001' + 'dc0401bb');
  assert.deepEqual(readProxyHeader(six), {
    kind: 'complete',
    bytes: six.length,
    source: { address: '2001:db8::7', port: 56324 },
  });
});

test('a proxy may speak for itself (LOCAL) or for a local socket', () => {
  for (const hex of ['20000000', '20110000', '2131000461626364'])
    assert.deepEqual(readProxyHeader(v2(hex)), { kind: 'complete', bytes: 12 + hex.length / 2, source: null });
});

test('bytes that are not a header are rejected at once, or at their full length', () => {
  for (const text of [
    'EHLO me\r\n',
    'PROXY TCP4 1.2.3.4\r\n',
    'PROXY TCP4 ::1 ::1 1 1\r\n',
    'PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n',
    'PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 70000 1\r\n',
    `PROXY TCP4 ${'1'.repeat(100)}`,
  ])
    assert.equal(readProxyHeader(Buffer.from(text)).kind, 'bad', text);
  for (const hex of ['11110000', '22110000', '2111ffff', '21110004' + '01020304'])
    assert.equal(readProxyHeader(v2(hex)).kind, 'bad', hex);
});

test('every beginning of a header is partial, and no bytes make it throw', () => {
  const headers = [
    Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n'),
    v2('2111000ccb007107c0000201dc0401bb'),
  ];
  for (const header of headers)
    for (let length = 1; length < header.length; length++)
      assert.equal(readProxyHeader(header.subarray(0, length)).kind, 'partial');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, signed) => {
      readProxyHeader(signed ? Buffer.concat([v2(''), bytes]) : Buffer.from(bytes));
    }),
  );
});
