import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';
import { checkHeaders, composeMessage, readAddresses } from '#sending/compose/compose-message.ts';
import { prepareMessage } from '#sending/compose/prepare-message.ts';

const OWN = 'agent@agents.test';
const NOW = new Date('2026-11-21T09:15:00Z');
const prepare = (text: string) => prepareMessage(Buffer.from(text, 'latin1'), OWN, NOW);
const textOf = (text: string) => prepare(text).bytes.toString('latin1');

describe('a submitted message', () => {
  test('gets Date and Message-ID when they are missing, and keeps its own', () => {
    const text = textOf(`From: ${OWN}\r\n\r\nhi\r\n`);
    assert.match(text, /^Date: Sat, 21 Nov 2026 09:15:00 \+0000\r\nMessage-ID: <[^>]+@agents\.test>\r\nFrom: /);
    const own = prepare(`From: ${OWN}\r\nDate: Fri, 20 Nov 2026 00:00:00 +0000\r\nMessage-ID: <a@b>\r\n\r\nhi\r\n`);
    assert.equal(own.messageId, '<a@b>');
    assert.equal(own.bytes.toString().match(/^(?:date|message-id):/gim)?.length, 2);
  });

  test('loses Bcc, whatever its case and folding, and nothing else', () => {
    const text = textOf(
      `From: ${OWN}\r\nbCC: x@y.test,\r\n z@y.test\r\nSubject: s\r\nDate: d\r\nMessage-ID: <a@b>\r\n\r\nBcc: body\r\n`,
    );
    assert.equal(text, `From: ${OWN}\r\nSubject: s\r\nDate: d\r\nMessage-ID: <a@b>\r\n\r\nBcc: body\r\n`);
  });

  test('has CRLF line ends only, so that no next hop sees another end of the message', () => {
    const text = textOf(`From: ${OWN}\nDate: d\nMessage-ID: <a@b>\n\none\n.\r\rtwo\r\n`);
    assert.doesNotMatch(text, /(?<!\r)\n|\r(?!\n)/);
  });

  test('says nothing about who authenticated it', () => {
    const text = textOf(
      `Authentication-Results: mail.test; dmarc=pass\r\nFrom: ${OWN}\r\nDate: d\r\nMessage-ID: <a@b>\r\n\r\n`,
    );
    assert.equal(text, `From: ${OWN}\r\nDate: d\r\nMessage-ID: <a@b>\r\n\r\n`);
  });

  test('has no more header than is read, so that nothing can hide after it', () => {
    const filler = `X-Filler: ${'x'.repeat(900)}\r\n`.repeat(300);
    assert.throws(() => prepare(`From: ${OWN}\r\n${filler}Bcc: x@y.test\r\n\r\n`), { code: 'payload_too_large' });
  });

  test('gets a new Message-ID in place of one that cannot be stored', () => {
    assert.match(prepare(`From: ${OWN}\r\nMessage-ID: <a\0b@c>\r\n\r\n`).messageId, /^<[0-9a-f-]{36}@agents\.test>$/);
  });

  test('says each thing once: what a person approves is what recipients read', () => {
    for (const name of ['Subject', 'Reply-To', 'Content-Type', 'Date', 'Message-ID'])
      assert.throws(
        () => prepare(`From: ${OWN}\r\n${name}: a\r\n${name}: b\r\n\r\nx\r\n`),
        { code: 'invalid_request' },
        name,
      );
  });
  test('must be from the mailbox, by From or Sender, with a plus-tag at most', () => {
    for (const from of [OWN, `Agent <${OWN}>`, 'Agent@Agents.Test', 'agent+news@agents.test'])
      prepare(`From: ${from}\r\n\r\n`);
    prepare(`From: boss@example.com\r\nSender: ${OWN}\r\n\r\n`);
    for (const header of [
      'From: boss@example.com',
      `From: ${OWN}, boss@example.com`,
      `From: ${OWN}\r\nFrom: boss@example.com`,
      `From: "${OWN}" <boss@example.com>`,
      'Subject: none',
      '',
    ])
      assert.throws(() => prepare(`${header}\r\n\r\n`), { code: 'invalid_request' }, header);
  });

  test('names nobody else as the one who sent, resent or wrote it, whoever is in From', () => {
    for (const from of [`From: ${OWN}`, `From: boss@example.com\r\nSender: ${OWN}`])
      for (const name of ['Sender', 'sEnDeR', 'Resent-From', 'Resent-Sender', 'Author']) {
        for (const value of [
          'ceo@bank.example',
          `"${OWN}" <ceo@bank.example>`,
          `${OWN}, ceo@bank.example`,
          `us: ${OWN}, ceo@bank.example;`,
          `${OWN}\r\n ,ceo@bank.example`,
          `(${OWN}) ceo@bank.example`,
          'undisclosed:;',
          'somebody',
          '',
        ])
          assert.throws(
            () => prepare(`${from}\r\n${name}: ${value}\r\n\r\n`),
            { code: 'invalid_request' },
            `${name}: ${value}`,
          );
        if (from.includes('Sender') && name.toLowerCase() === 'sender') continue;
        for (const value of [OWN, `Agent <${OWN}>`, 'agent+tag@Agents.Test'])
          prepare(`${from}\r\n${name}: ${value}\r\n\r\n`);
      }
    const again = 'Resent-From: ceo@bank.example\r\n';
    assert.throws(() => prepare(`Resent-From: ${OWN}\r\n${again}From: ${OWN}\r\n\r\n`), { code: 'invalid_request' });
    assert.throws(() => checkHeaders({ Author: 'ceo@bank.example' }), { code: 'invalid_request' });
  });
});

test('no address or header field of a request can end a line', () => {
  for (const address of [
    'a@b.test\r\nRCPT TO:<x@y>',
    'a\n@b.test',
    'a@b.test>',
    'a b@c.test',
    '<a@b.test>',
    'a@',
    '@b',
    'a@b..c',
    'a@-b.test',
  ])
    assert.equal(isEmailAddress(address), false, address);
  assert.equal(isEmailAddress("o'neil+tag@sub.example.co"), true);
  assert.throws(() => readAddresses(['A\r\nBcc: x@y.test <a@b.test>'], '/to'), { code: 'invalid_request' });
  assert.throws(() => readAddresses(['a@b.test, c@d.test'], '/to'), { code: 'invalid_request' });
  for (const headers of [
    { 'X-A': 'b\r\nBcc: x@y' },
    { 'X A': 'b' },
    { Bcc: 'x@y' },
    { 'content-type': 'x' },
    { Received: 'x' },
  ])
    assert.throws(() => checkHeaders(headers), { code: 'invalid_request' }, JSON.stringify(headers));
  checkHeaders({ 'X-Campaign': 'blue', 'List-Unsubscribe': '<https://a.test>' });
});

test('a composed message contains the requested fields, and never Bcc', async () => {
  const bytes = await composeMessage({
    from: { name: 'Agént', address: OWN },
    to: readAddresses(['Ann <ann@example.com>'], '/to'),
    cc: [],
    bcc: readAddresses(['ben@example.com'], '/bcc'),
    replyTo: readAddresses(['reply@example.com'], '/replyTo'),
    subject: 'Grüße',
    text: 'Text',
    html: '<p>Text</p>',
    attachments: [
      { filename: 'a.txt', contentType: 'text/plain', content: Buffer.from('attached'), contentId: undefined },
    ],
    headers: { 'X-Campaign': 'blue' },
    inReplyTo: '<a@b>',
    references: ['<z@b>', '<a@b>'],
  });
  const text = bytes.toString();
  for (const part of [
    /^From: =\?/m,
    /^To: Ann <ann@example\.com>/m,
    /^Reply-To: /m,
    /^In-Reply-To: <a@b>/m,
    /^X-Campaign: blue/m,
    /a\.txt/,
  ])
    assert.match(text, part);
  assert.doesNotMatch(text, /ben@/);
  assert.doesNotMatch(text, /(?<!\r)\n/);
});
