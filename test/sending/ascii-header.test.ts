import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { hasAsciiHeader, withAsciiHeader } from '#sending/transports/dkim.ts';

const message = (header: string) => Buffer.from(`${header}\r\n\r\nGrüße\r\n`);

test('a header without UTF-8 says the same, as far as it can', () => {
  const given = message(
    [
      'From: "Jörg, B." <bot@agents.test>',
      'To: 用户 <用户@例子.test>, Ann <ann@dest.test>,',
      ' ben@bücher.test',
      'Subject: Grüße und ein langer Betreff, der in mehreren Wörtern steht und über die Zeile hinausgeht',
      'Content-Type: text/plain; charset=utf-8; name="Rechnung März.txt"',
      'X-Plain:  as it   was',
      'X-Other: Ünïcödé',
    ].join('\r\n'),
  );
  assert.equal(hasAsciiHeader(given), false);
  const ascii = withAsciiHeader(given);
  assert.equal(hasAsciiHeader(ascii), true);
  const [before, after] = [readStructure(given), readStructure(ascii)];
  assert.equal(after.subject, before.subject);
  assert.deepEqual(after.from, before.from);
  assert.deepEqual(after.to, [
    { name: 'Ann', address: 'ann@dest.test' },
    { name: '', address: 'ben@xn--bcher-kva.test' },
  ]);
  const text = ascii.toString('latin1');
  assert.match(text, /^To: =\?UTF-8\?B\?[^:]*\?=:;,/m);
  assert.ok(text.includes('X-Plain:  as it   was\r\n'), 'other fields are not touched');
  assert.equal(after.parts.filename, before.parts.filename);
  for (const line of text.split('\r\n')) assert.ok(line.length <= 120, line);
  assert.equal(
    text.slice(text.indexOf('\r\n\r\n')),
    given.toString('latin1').slice(given.toString('latin1').indexOf('\r\n\r\n')),
  );
});

test('a header in ASCII is left as it is', () => {
  const given = message('From: bot@agents.test\r\nSubject:  two  words');
  assert.equal(hasAsciiHeader(given), true);
  assert.deepEqual(withAsciiHeader(given), given);
});
