/** What is not read as thoroughly because it is plain gives the same domains as the thorough way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import fc from 'fast-check';
import { authorDomains } from '#mail/smtp/sender-checks.ts';

function domainsOf(from: string): readonly string[] {
  const bytes = Buffer.from(`From: ${from}\r\n\r\n`, 'latin1');
  return authorDomains(headerFields(bytes, 0, bytes.length)).domains;
}

/** A comment says nothing, and is nothing plain. */
const thoroughly = (from: string): readonly string[] => domainsOf(`${from} (a)`);

const SIGNS = [..."abZ019 .'_-+@<>"];
const piece = fc.array(fc.constantFrom(...SIGNS), { maxLength: 6 }).map((signs) => signs.join(''));
const address = fc.tuple(piece, piece).map(([local, host]) => `<a${local}@${host}b.example>`);

test('an author who writes a plain name and address has the domains that two parsers find', () => {
  assert.deepEqual(domainsOf('Ann <ann@Sender.Example>'), ['sender.example']);
  fc.assert(
    fc.property(piece, address, (name, spec) => {
      for (const from of [spec, `${name}${spec}`, `A${name} ${spec}`])
        assert.deepEqual(domainsOf(from), thoroughly(from), from);
    }),
    { numRuns: 5_000 },
  );
});

test('a domain that is shown beside another one is not missed', () => {
  for (const from of [
    '"ann@bank.example" <x@evil.example>',
    'ann@bank.example <x@evil.example>',
    '<x@evil.example>, <ann@bank.example>',
    'Ann <x@evil.example> <ann@bank.example>',
    "'ann@bank.example' <x@evil.example>",
  ])
    assert.deepEqual(domainsOf(from), thoroughly(from), from);
});
