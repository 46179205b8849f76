import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registrableDomain } from '#domain/mail/domain-names.ts';

const DOMAINS = [
  ['www.example.com', 'example.com'],
  ['WWW.Example.COM.', 'example.com'],
  ['login.barclays.co.uk', 'barclays.co.uk'],
  ['evil.co.uk', 'evil.co.uk'],
  ['alice.github.io', 'alice.github.io'],
  ['a.b.alice.github.io', 'alice.github.io'],
  ['shop.example.com.au', 'example.com.au'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['co.uk', 'co.uk'],
  ['localhost', 'localhost'],
  ['192.0.2.7', '192.0.2.7'],
] as const;

for (const [host, domain] of DOMAINS)
  test(`${host} belongs to ${domain}`, () => assert.equal(registrableDomain(host), domain));

test('without the suffixes of providers, their customers are one owner', () => {
  assert.equal(registrableDomain('alice.github.io', { privateSuffixes: false }), 'github.io');
  assert.equal(registrableDomain('login.barclays.co.uk', { privateSuffixes: false }), 'barclays.co.uk');
});
