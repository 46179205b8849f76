import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCapabilityHiding } from '@agent-mailbox/imap/capabilities';

const hidden = (rules: string, client: string): string[] =>
  (parseCapabilityHiding(rules) ?? assert.fail('no rules')).flatMap(({ clientName, hide }) =>
    clientName.test(client) ? hide : [],
  );

test('a rule names clients with * for any text, without capitals, and capabilities as one may spell them', () => {
  const rules = 'Old Mail*: qresync, CONDSTORE; *phone (x)*: compress=deflate ;; *:IDLE';
  assert.deepEqual(hidden(rules, 'old mail'), ['QRESYNC', 'CONDSTORE', 'IDLE']);
  assert.deepEqual(hidden(rules, 'An Old Mail'), ['IDLE']);
  assert.deepEqual(hidden(rules, 'My Phone (x) 3'), ['COMPRESS=DEFLATE', 'IDLE']);
  assert.deepEqual(hidden(rules, ''), ['IDLE']);
  assert.deepEqual(hidden('a.c: IDLE', 'abc'), []);
  assert.deepEqual(hidden('com.example: Mail: SORT', 'com.example: mail'), ['SORT']);
  assert.deepEqual(parseCapabilityHiding(''), []);
});

test('a rule without client or capability, or with a word that cannot be hidden, is none', () => {
  for (const wrong of [
    'QRESYNC',
    ': QRESYNC',
    'Mail:',
    'Mail: QRSYNC',
    'Mail: IDLE NONSENSE',
    '*: IMAP4rev1',
    '*: STARTTLS',
  ])
    assert.equal(parseCapabilityHiding(wrong), undefined, wrong);
});
