/** Mails that clients quote whole, below a separator or their header, in the languages of these clients. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { extractReply } from '#mime/reply-text.ts';

/** `## title`, then a mail; `%%` stands between what is new and what is quoted. */
const mails = (file: string): (readonly [title: string, text: string])[] =>
  readFileSync(new URL(`replies/${file}`, import.meta.url), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((mail) => [mail.slice(0, mail.indexOf('\n')), mail.slice(mail.indexOf('\n') + 1).replace(/\n+$/, '\n')]);

describe('a reply above a mail that is quoted whole', () => {
  for (const [title, mail] of mails('quoted-mail.txt')) {
    const [said = '', quoted = ''] = mail.split('%%\n');
    it(title, () => {
      assert.equal(extractReply(said + quoted), said.trim());
      assert.equal(extractReply((said + quoted).normalize('NFD')), said.normalize('NFD').trim(), 'decomposed');
    });
  }
});

describe('text that only looks like a quoted mail stays', () => {
  for (const [title, mail] of mails('kept.txt')) it(title, () => assert.equal(extractReply(mail), mail.trim()));
});

it('takes no time worth telling on text made to take long', () => {
  for (const unit of [
    '--\n',
    '-- x --\n',
    '- \n',
    'De:\n',
    '发件人：\n',
    '--\n\n\n',
    'From: a\nTo: b\n\n',
    'a b c:\n',
    '=*',
  ])
    for (const tail of ['', ':'])
      assert.ok(extractReply(`a${unit.repeat(Math.ceil(65_536 / unit.length))}${tail}`).length > 0);
});
