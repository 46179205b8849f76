import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { indexMessage } from '../src/index-message.ts';
import { bodyParts, partText } from '../src/parts.ts';

function textOf(body: string, type = 'text/plain; charset=utf-8'): string {
  const bytes = Buffer.from(`Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}`);
  const { plain, html } = bodyParts(indexMessage(bytes));
  const [first] = [...plain, ...html];
  return first === undefined ? assert.fail('no text') : partText(bytes, first.part);
}
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

describe('a text part that claims to be base64', () => {
  for (const text of [
    'Hello, this was never encoded.\r\n\r\nBye\r\n',
    'Hello',
    'Thanks',
    'words without any stop\r\nand more of them\r\n',
    'Grüße aus Köln\r\n',
    'Your code is 123456',
    '谢谢，再见',
    '<p>Hello</p>',
  ])
    it(`and is none is taken as it stands: ${JSON.stringify(text)}`, () => {
      assert.equal(textOf(text), text.replaceAll('\r\n', '\n'));
      assert.equal(textOf(text, 'text/html'), text.replaceAll('\r\n', '\n'));
    });

  it('and is base64 is decoded', () => {
    for (const text of ['Hello', 'Grüße\n', 'a'.repeat(1_000), '谢谢', '', 'x'])
      assert.equal(textOf(base64(text)), text);
    const long = 'Some words. '.repeat(100);
    assert.equal(textOf(base64(long).replace(/.{76}/g, '$&\r\n')), long);
    assert.equal(textOf(`${base64('Grüße')}\r\n`, 'text/plain'), 'Grüße');
    assert.equal(textOf(base64(Buffer.from('Hi', 'utf16le')), 'text/plain; charset=utf-16le'), 'Hi');
  });

  it('and is damaged base64, or has a footer of a list below it, is decoded as far as it goes', () => {
    const text = 'Some words that go on for a while, long enough to be more than one line of it.';
    assert.equal(textOf(base64(text).replace(/.{20}/g, '$&*')), text);
    assert.ok(textOf(`${base64(text)}\r\n_____\r\nList mailing list\r\n`).startsWith(text));
    assert.ok(textOf(base64(text).slice(0, 61)).startsWith('Some words'));
  });
});
