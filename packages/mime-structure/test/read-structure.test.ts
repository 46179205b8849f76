import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partText } from '@agent-mailbox/mime-structure/parts';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';

const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'));

test('header, envelope and text of a plain message', () => {
  const bytes = crlf('From: Ann <ann@example.com>\nSubject: =?utf-8?q?H=C3=A9llo?=\n\nHow are you?\n');
  const { subject, from, envelope, parts } = readStructure(bytes);
  assert.equal(subject, 'Héllo');
  assert.deepEqual(from, [{ name: 'Ann', address: 'ann@example.com' }]);
  const ann = '(("Ann" NIL "ann" "example.com"))';
  assert.equal(envelope.toString('latin1'), `(NIL "=?utf-8?q?H=C3=A9llo?=" ${ann} ${ann} ${ann} NIL NIL NIL NIL NIL)`);
  assert.equal(partText(bytes, parts), 'How are you?\n');
});

test('the tree of a multipart gives offsets into its bytes', () => {
  const bytes = crlf(
    'Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\nContent-Type: application/pdf; name="a.pdf"\nContent-Transfer-Encoding: base64\n\nAQID\n--b--\n',
  );
  const { parts, attachments, bodyStructure } = readStructure(bytes);
  const [first, second] = parts.parts ?? [];
  assert.equal(bytes.toString('latin1', first?.body, first?.end), 'one');
  assert.equal(bytes.toString('latin1', second?.body, second?.end), 'AQID');
  assert.deepEqual(
    attachments.map(({ id, filename, sizeBytes }) => [id, filename, sizeBytes]),
    [['2', 'a.pdf', 3]],
  );
  assert.match(bodyStructure.toString('latin1'), /^\(\("text" "plain" .*"application" "pdf" .*"mixed"/i);
});

test('a multipart without its boundary is an opaque leaf whose bytes are all there', () => {
  const bytes = crlf('Content-Type: multipart/mixed\n\nnothing\n');
  const { parts } = readStructure(bytes);
  assert.equal(parts.parts, undefined);
  assert.equal(parts.end, bytes.length);
});
