import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { REFERENCES_MAX } from '#domain/sending/outbound.ts';
import { answerRecipients, answerReferences } from '#sending/compose/answer-letter.ts';

function fields(header: string) {
  const bytes = Buffer.from(header.replaceAll('\n', '\r\n'));
  return headerFields(bytes, 0, bytes.length);
}
const OWN = 'me@agents.test';
const addresses = (list: readonly { address: string }[]) => list.map(({ address }) => address);

test('a reply never drops Cc silently: omitted people are listed', () => {
  const given = fields(`From: a@x.test\nTo: ${OWN}, b@x.test\nCc: C <c@x.test>, A@X.test\n`);
  const one = answerRecipients(given, [OWN], false);
  assert.deepEqual([addresses(one.to), one.cc, addresses(one.omitted)], [['a@x.test'], [], ['b@x.test', 'c@x.test']]);
  const all = answerRecipients(given, [OWN], true);
  assert.deepEqual([addresses(all.cc), all.omitted], [['b@x.test', 'c@x.test'], []]);
});

test('replies go to Reply-To', () => {
  const given = fields(`From: a@x.test\nReply-To: list@x.test\nTo: ${OWN}\n`);
  assert.deepEqual(addresses(answerRecipients(given, [OWN], false).to), ['list@x.test']);
});

test('In-Reply-To and References are set, of these the last 20', () => {
  const ids = Array.from({ length: 30 }, (_, i) => `<${i}@x>`);
  const many = answerReferences(fields(`Message-ID: <last@x>\nReferences: ${ids.join('\n ')}\n`));
  assert.equal(many.inReplyTo, '<last@x>');
  assert.equal(REFERENCES_MAX, 20);
  assert.deepEqual(many.references, [...ids.slice(-19), '<last@x>']);
  const parent = answerReferences(fields('Message-ID: <b@x>\nIn-Reply-To: <a@x>\n'));
  assert.deepEqual(parent.references, ['<a@x>', '<b@x>']);
  assert.deepEqual(answerReferences(fields('Subject: none\n')), { inReplyTo: undefined, references: [] });
});

test('an answer to all reaches everybody where To and Cc are given several times (RFC 5322 §4.5.3)', () => {
  const given = fields(`From: a@x.test\nTo: ${OWN}\nTo: b@x.test\nCc: c@x.test\nCc: d@x.test\n`);
  const { to, cc } = answerRecipients(given, [OWN], true);
  assert.deepEqual(addresses([...to, ...cc]), ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test']);
});
