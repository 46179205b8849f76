/**
 * The fields by which a body is read are often not signed. Whoever replays a signed mail may then change them: what is
 * shown must stay what was signed, or the signature counts for nothing. Mail as large senders sign it counts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { authenticate, RECORDS, signed } from './signed-mail.ts';

/** Lists of signed fields in published mail of large senders, 2012 to 2026. */
const SENDERS: Readonly<Record<string, string>> = {
  'Gmail, a patch':
    'content-transfer-encoding:mime-version:references:in-reply-to:message-id:date:subject:cc:to:from:from:to:cc:subject:date:message-id:reply-to',
  'Gmail, mutt':
    'in-reply-to:content-disposition:mime-version:references:message-id:subject:cc:to:from:date:from:to:cc:subject:date:message-id:reply-to',
  'Google accounts':
    'to:from:subject:message-id:feedback-id:date:mime-version:from:to:cc:subject:date:message-id:reply-to',
  'Google Workspace, 2022':
    'message-id:date:mime-version:user-agent:subject:content-language:to:cc:references:from:in-reply-to:content-transfer-encoding',
  'Outlook.com, Hotmail': 'From:Date:Subject:Message-ID:Content-Type:MIME-Version:X-MS-Exchange-SenderADCheck',
  Yahoo: 'Date:Subject:To:Cc:References:From:In-Reply-To:From:Subject:Reply-To',
  AOL: 'Subject:From:To:Cc:Date:References:From:Subject:Reply-To',
  Proton:
    'Date:To:From:Subject:Message-ID:Feedback-ID:From:To:Cc:Date:Subject:Reply-To:Feedback-ID:Message-ID:BIMI-Selector',
  iCloud: 'From:Date:Subject:MIME-Version:Content-Type:Message-Id:To:x-icloud-hme',
  'iCloud, without Content-Type': 'From:To:Subject:Date:Message-ID:MIME-Version:x-icloud-hme',
  'Amazon SES': 'MIME-Version:Content-Type:Content-Transfer-Encoding:Subject:From:To:Date:Message-ID:Feedback-ID',
  Amazon: 'Date:From:Reply-To:To:Message-ID:Subject:MIME-Version:Content-Type',
  Facebook: 'Date:To:Subject:From:MIME-Version:Content-Type',
  LinkedIn: 'From:Subject:MIME-Version:Content-Type:To:Date:X-LinkedIn-Class:X-LinkedIn-Template:X-LinkedIn-fbl',
  'X, Twitter': 'Date:From:To:Subject:MIME-Version:Content-Type:Message-ID',
  PayPal: 'From:From:Subject:Date:To:MIME-Version:Content-Type',
  GMX: 'X-UI-Sender-Class:From:To:Cc:Subject:Date:In-Reply-To:References',
  'Mail.ru':
    'In-Reply-To:Content-Type:MIME-Version:References:Message-ID:Subject:Cc:To:From:Date:From:Subject:Content-Type:Content-Transfer-Encoding:To:Cc',
  Yandex: 'In-Reply-To:Cc:References:To:Message-ID:Date:Subject:From',
  QQ: 'From:To:Cc:Subject:Date:In-Reply-To:References',
  '163.com': 'From:Content-Type:Mime-Version:Subject:Message-Id:Date',
  SendGrid: 'from:to:subject:mime-version:content-type:x-feedback-id',
  'SendGrid, 2020': 'from:reply-to:subject:mime-version:content-type:content-transfer-encoding:to:list-unsubscribe',
  Mailgun:
    'Content-Transfer-Encoding:Content-Type:Message-Id:To:To:From:From:Subject:Subject:Mime-Version:Date:Sender:Sender:X-Feedback-Id',
  Fastmail:
    'cc:cc:content-transfer-encoding:content-type:content-type:date:date:from:from:in-reply-to:in-reply-to:message-id:mime-version:references:reply-to:subject:subject:to:to',
};

const mime = (type: string, encoding: string, body: string, more = '') =>
  letter(
    'Hello',
    `MIME-Version: 1.0\n${type === '' ? '' : `Content-Type: ${type}\n`}${encoding === '' ? '' : `Content-Transfer-Encoding: ${encoding}\n`}${more}`,
    body,
  );
const base64 = (text: string | Buffer) =>
  `${Buffer.from(text)
    .toString('base64')
    .replace(/.{76}(?=.)/g, '$&\n')}\n`;
const raw = (header: string, body: Buffer) => Buffer.concat([Buffer.from(header.replace(/\r?\n/g, '\r\n')), body]);

const QUOTED_PRINTABLE = [
  'Zo=C3=AB, it is =E2=82=AC 100 =E2=80=93 https://shop.example/?item=3D7&size=3D=',
  '9 shows the details, which are long enough for a soft line break in here=',
  '.',
  '',
  '> On Monday you wrote a line that is quoted here and that is as long as this=',
  ' one.=20',
  '=2D-=20',
  'Zo=C3=AB',
  '',
].join('\n');
const alternative = (plain: string, html: string) =>
  [
    '--b1',
    'Content-Type: text/plain; charset="UTF-8"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    plain,
    '--b1',
    'Content-Type: text/html; charset="UTF-8"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    html,
    '--b1--',
    '',
  ].join('\n');
const attached = [
  '--b0',
  'Content-Type: multipart/alternative; boundary="b1"',
  '',
  alternative('Hello', '<p>Hello</p>'),
  '--b0',
  'Content-Type: application/pdf; name="a.pdf"',
  'Content-Disposition: attachment; filename="a.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  base64('%PDF-1.7'),
  '--b0--',
  '',
].join('\n');

/** Mail as it comes from them. */
const HONEST: Readonly<Record<string, string>> = {
  'without MIME fields': letter(),
  'plain text': mime('text/plain; charset=us-ascii', '7bit', 'Some words = a text.\n'),
  'UTF-8 as it is': mime('text/plain; charset=UTF-8; format=flowed', '8bit', 'Zoë: € 100 \nand more\n'),
  'quoted-printable': mime('text/plain; charset="utf-8"', 'quoted-printable', QUOTED_PRINTABLE),
  'quoted-printable without any escape': mime('text/plain; charset=utf-8', 'quoted-printable', 'Hello\n'),
  'a patch': mime(
    'text/plain; charset=UTF-8',
    'quoted-printable',
    'Signed-off-by: Zo=C3=AB\n=2D--\n=2D=09if (a =3D=3D b)\n+=09if (a !=3D b)\n',
  ),
  base64: mime('text/plain; charset=utf-8', 'base64', base64(`Zoë, the price is € 100.\r\n${'Words. '.repeat(40)}`)),
  'a short text in base64': mime('text/plain; charset="utf-8"', 'base64', base64('Thanks!\r\n')),
  'an empty text in base64': mime('text/plain; charset="utf-8"', 'base64', '\n'),
  'a quoted text in base64': mime('text/plain; charset="utf-8"', 'base64', base64('No.\r\n\r\n> =C3=A9=0D=0A\r\n')),
  'HTML in quoted-printable': mime(
    'text/html; charset=utf-8',
    'quoted-printable',
    '<!DOCTYPE html><html><body style=3D"margin:0"><a href=3D"https://example.com/=\n?a=3Db">Zo=C3=AB</a></body></html>\n',
  ),
  'HTML in base64': mime('text/html; charset=UTF-8', 'base64', base64('<div dir="ltr">Zoë</div>')),
  alternatives: mime('multipart/alternative; boundary="b1"', '', alternative('Zo=C3=AB', '<p>Zo=C3=AB</p>')),
  attachments: mime('multipart/mixed; boundary=b0', '7bit', attached),
  'an image within': mime(
    'multipart/related; boundary="b0"; type="multipart/alternative"',
    '',
    attached.replace('application/pdf; name="a.pdf"', 'image/png'),
  ),
  'a report': mime(
    'multipart/report; boundary="r"; report-type=delivery-status',
    '',
    '--r\nContent-Type: text/plain\n\nIt failed.\n--r\nContent-Type: message/delivery-status\n\nAction: failed\n--r--\n',
  ),
  'a signed part': mime(
    'multipart/signed; micalg=pgp-sha512; protocol="application/pgp-signature"; boundary="s"',
    '',
    '--s\nContent-Type: text/plain\n\nHello\n--s\nContent-Type: application/pgp-signature; name="signature.asc"\n\nx\n--s--\n',
  ),
  'shown in place': mime('text/plain; charset=us-ascii', '7bit', 'Hello\n', 'Content-Disposition: inline\n'),
};

async function verdict(message: string | Buffer, headerList: string, change: Change = (text) => text) {
  const bytes = await signed(message, { headerList });
  const { results, header } = await authenticate(Buffer.from(change(bytes.toString('latin1')), 'latin1'));
  return { dkim: results.dkim.result, dmarc: results.dmarc.result, header, results };
}
type Change = (text: string) => string;

const GMAIL = SENDERS['Google accounts'] ?? '';
const MICROSOFT = SENDERS['Outlook.com, Hotmail'] ?? '';
const YAHOO = SENDERS['Yahoo'] ?? '';

describe('mail as large senders sign it counts', () => {
  for (const [sender, headerList] of Object.entries(SENDERS))
    it(sender, async () => {
      for (const [name, message] of Object.entries(HONEST)) {
        const { dkim, dmarc, header } = await verdict(message, headerList);
        assert.deepEqual([dkim, dmarc], ['pass', 'pass'], `${name}: ${header}`);
      }
    });

  for (const [name, charset, bytes] of [
    ['Latin-1', 'iso-8859-1', Buffer.from('D\xe9j\xe0 vu, 100 \xa3\r\n', 'latin1')],
    ['Windows-1252', 'windows-1252', Buffer.from('\x80 100 \x96 pay\r\n', 'latin1')],
    ['ISO-2022-JP', 'ISO-2022-JP', Buffer.from('\x1b$B$3$s$K$A$O\x1b(B\r\n', 'latin1')],
    ['GB 18030', 'gb18030', Buffer.from('c4e3bac3a3acced2c3c7b5c4b9abcbbed4dad6d0b9fa0d0a', 'hex')],
  ] as const)
    it(`a text in ${name}, also where nothing of MIME is signed`, async () => {
      const message = raw(mime(`text/plain; charset=${charset}`, '8bit', ''), bytes);
      assert.equal((await verdict(message, YAHOO)).dmarc, 'pass');
    });

  it('a file alone, with the name of its signed type', async () => {
    const message = mime(
      'application/pdf; name="scan.pdf"',
      'base64',
      base64('%PDF-1.7 and more'),
      'Content-Disposition: attachment; filename="scan.pdf"\n',
    );
    const { dmarc, results } = await verdict(message, MICROSOFT);
    assert.equal(dmarc, 'pass');
    assert.ok(results.dkim.signatures[0]?.unsigned?.includes('content-disposition'));
    const renamed = await verdict(message, MICROSOFT, (text) =>
      text.replace('filename="scan.pdf"', 'filename="a.exe"'),
    );
    assert.equal(renamed.dmarc, 'fail');
  });
});

const PLAIN = mime('text/plain; charset=us-ascii', '7bit', 'Some words, and a link: https://shop.example/?id=41\n');
const replace =
  (from: string | RegExp, to: string): Change =>
  (text) => {
    const changed = text.replace(from, to);
    assert.notEqual(changed, text);
    return changed;
  };
/** A field, in front of those of MIME. */
const insert = (line: string): Change => replace('\nMIME-Version: 1.0', `\n${line}\r\nMIME-Version: 1.0`);
const reencode = (encoding: string) => replace('Encoding: 7bit', `Encoding: ${encoding}`);
const retype = (type: string) => replace(/Content-Type: .*/, `Content-Type: ${type}`);

/** What was signed, by whom, and what is made of it. */
const ATTACKS: Readonly<Record<string, readonly [string | Buffer, string, Change]>> = {
  'base64 of words': [PLAIN, MICROSOFT, reencode('base64')],
  'a word as base64': [mime('text/plain', '7bit', 'Wish\n'), MICROSOFT, reencode('base64')],
  'base64 within a text': [
    mime('text/plain', '7bit', `Not mine:\n${base64('Pay to another account, please. I agree.')}`),
    MICROSOFT,
    reencode('base64'),
  ],
  'an address with an escape': [PLAIN, MICROSOFT, reencode('quoted-printable')],
  'a quotation that ends its line': [
    mime('text/plain', '7bit', 'No.\n\n> Hello=0D=0AYes, pay =3D 100\n'),
    MICROSOFT,
    reencode('quoted-printable'),
  ],
  'a quotation that takes an answer': [
    mime('text/plain', '7bit', `> ${'Please pay us by Monday evening. '.repeat(2)}=\nNo, never.\n`),
    MICROSOFT,
    reencode('quoted-printable'),
  ],
  'a quotation in another alphabet': [
    mime('text/plain', '7bit', 'No.\n> =E2=80=AEpay\n'),
    MICROSOFT,
    reencode('quoted-printable'),
  ],
  'an escape that turns the direction': [
    mime('text/plain', '7bit', 'You wrote =E2=80=AEpay\n'),
    MICROSOFT,
    reencode('quoted-printable'),
  ],
  'an encoding nobody knows': [PLAIN, MICROSOFT, reencode('x-uuencode')],
  'an encoding in words that readers read differently': [
    mime('text/plain', 'base64', base64('Some words')),
    MICROSOFT,
    replace('Encoding: base64', 'Encoding: base64; 7bit'),
  ],
  'base64 as it stands': [
    mime('text/plain', 'base64', base64('Some words')),
    MICROSOFT,
    replace('Encoding: base64', 'Encoding: 7bit'),
  ],
  'base64 without the field': [
    mime('text/plain', 'base64', base64('Some words')),
    MICROSOFT,
    replace(/Content-Transfer-Encoding: base64\r\n/, ''),
  ],
  'quoted-printable as it stands': [
    mime('text/plain; charset=utf-8', 'quoted-printable', QUOTED_PRINTABLE),
    MICROSOFT,
    replace('quoted-printable', '8bit'),
  ],
  'UTF-7': [mime('text/plain', '7bit', 'Do not pay. +AFAAYQB5-\n'), GMAIL, retype('text/plain; charset=utf-7')],
  'UTF-16': [PLAIN, GMAIL, retype('text/plain; charset=utf-16be')],
  'UTF-16LE': [PLAIN, GMAIL, retype('text/plain; charset=utf-16')],
  'another alphabet': [
    raw(mime('text/plain; charset=windows-1252', '8bit', ''), Buffer.from('100 \xa4 D\xe9j\xe0\r\n', 'latin1')),
    GMAIL,
    retype('text/plain; charset=iso-8859-15'),
  ],
  'UTF-8 as Chinese': [mime('text/plain; charset=utf-8', '8bit', 'Zoë\n'), GMAIL, retype('text/plain; charset=gbk')],
  'two charsets': [PLAIN, GMAIL, retype('text/plain; charset=us-ascii; charset=utf-7')],
  'a charset in pieces': [PLAIN, GMAIL, retype('text/plain; charset*0=us-; charset*1=ascii')],
  'an encoded charset': [PLAIN, GMAIL, retype("text/plain; charset*=''us-ascii")],
  'a comment': [PLAIN, GMAIL, retype('text/plain (text/html); charset=us-ascii')],
  'words run together': [
    mime('text/plain; format=flowed', '7bit', 'We now \nhere agree\n'),
    GMAIL,
    retype('text/plain; format=flowed; delsp=yes'),
  ],
  'a calendar': [PLAIN, GMAIL, retype('text/calendar; method=REQUEST')],
  XHTML: [PLAIN, GMAIL, retype('application/xhtml+xml')],
  'a message': [mime('text/plain', '7bit', 'From: eve@example.net\n\nHello\n'), GMAIL, retype('message/rfc822')],
  'a program by its type': [PLAIN, GMAIL, retype('application/octet-stream')],
  'a program by a name of the type': [PLAIN, GMAIL, retype('text/plain; name=a.exe')],
  'a program by a name of the disposition': [
    PLAIN,
    MICROSOFT,
    insert('Content-Disposition: attachment; filename=a.exe'),
  ],
  'a name in place': [PLAIN, MICROSOFT, insert('Content-Disposition: inline; filename="a.html"')],
  'a file': [PLAIN, MICROSOFT, insert('Content-Disposition: attachment')],
  'HTML out of a quotation': [
    mime('text/plain', '7bit', '<eve@example.net> wrote:\n> <style>*{display:none}</style>\n'),
    GMAIL,
    retype('text/html'),
  ],
  'HTML as it stands': [mime('text/html', '7bit', '<p>Hello</p><!-- pay -->\n'), GMAIL, retype('text/plain')],
  'parts as they stand': [
    mime('multipart/mixed; boundary=b0', '', attached),
    GMAIL,
    replace('Content-Type: multipart/mixed; boundary=b0\r\n', ''),
  ],
  'two boundaries': [
    mime('multipart/mixed; boundary=b0', '', attached),
    GMAIL,
    retype('multipart/mixed; boundary=b0; boundary=b1'),
  ],
  'a boundary in pieces': [
    mime('multipart/mixed; boundary=b0', '', attached),
    GMAIL,
    retype('multipart/mixed; boundary*0=b; boundary*1=0'),
  ],
  'parts that hide each other': [
    mime(
      'multipart/mixed; boundary=m',
      '',
      '--m\nContent-Type: text/plain\n\nI do not agree with:\n--m\nContent-Type: text/plain\n\nPay.\n--m--\n',
    ),
    GMAIL,
    retype('multipart/alternative; boundary=m'),
  ],
  'parts that become mail': [
    mime('multipart/mixed; boundary=m', '', '--m\n\nFrom: eve@example.net\n\nPay.\n--m--\n'),
    GMAIL,
    retype('multipart/digest; boundary=m'),
  ],
  'another first part': [
    mime('multipart/related; boundary=b0', '', attached),
    GMAIL,
    retype('multipart/related; boundary=b0; start="<x>"'),
  ],
  'encoded parts': [mime('multipart/mixed; boundary=b0', '7bit', attached), MICROSOFT, reencode('quoted-printable')],
  'a line that ends the header for some readers': [PLAIN, MICROSOFT, insert('X-Mailer: x\r\nPay to another account.')],
};

describe('a signature does not count where the unsigned fields were changed', () => {
  for (const [name, [message, headerList, change]] of Object.entries(ATTACKS))
    it(name, async () => {
      const { dkim, dmarc } = await verdict(message, headerList, change);
      assert.deepEqual([dkim, dmarc], ['policy', 'fail']);
    });
});

describe('what changes nothing counts', () => {
  for (const [name, change] of [
    ['without Mime-Version', replace(/MIME-Version: 1.0\r\n/, '')],
    ['with the line of a mailbox file', (text: string) => `From bob@example.com Mon Jan  1 00:00:00 2024\r\n${text}`],
    ['with other References', insert('References: <x@example.net>')],
    ['with a Content-ID', insert('Content-ID: <x@example.net>')],
    ['with fields of a list', insert('List-Id: <x.example.net>')],
  ] as const)
    it(name, async () => {
      assert.equal((await verdict(PLAIN, YAHOO, change)).dmarc, 'pass');
    });
});

describe('in the mailbox', () => {
  let world: ApiWorld;
  let mail: Awaited<ReturnType<typeof startMail>>;
  before(async () => {
    world = await apiWorld();
    mail = await startMail(world.services, { lookup: dnsStub(RECORDS) });
  });
  after(async () => {
    await mail?.close();
    await world?.close();
  });

  async function received(message: Buffer) {
    const { mailbox } = world.organization;
    const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
    const reply = await client.send('bob@example.com', [mailbox.address], message);
    client.close();
    const id = /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
    const rest = (await world.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token })).body;
    const agent = await world.call('POST', '/mcp', {
      as: mailbox.token,
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'read_message', arguments: { messageId: id } },
      },
    });
    const folder = String(at(rest, 'folders', 0));
    return {
      rest,
      agent: agent.text,
      structure: await structureOf(folder),
      folder,
      dmarc: at(rest, 'authentication', 'dmarc', 'result'),
    };
  }

  /** BODYSTRUCTURE of the newest message. */
  async function structureOf(folder: string): Promise<string> {
    const { mailbox } = world.organization;
    const client = await LineClient.open(mail.imap.port, { secure: true });
    const password = (mailbox.token['authorization'] ?? '').replace('Bearer ', '');
    assert.match((await client.tagged('a', `LOGIN ${mailbox.address} ${password}`)).at(-1) ?? '', /^a OK/);
    await client.tagged('b', `SELECT ${folder}`);
    const lines = await client.tagged('c', 'FETCH * BODYSTRUCTURE');
    client.socket.destroy();
    return lines.find((line) => line.includes('BODYSTRUCTURE')) ?? '';
  }

  it('an honest mail is verified, and read alike by REST, IMAP and agents', async () => {
    const message = await signed(HONEST['quoted-printable'] ?? '', { headerList: MICROSOFT });
    const { rest, agent, structure, folder, dmarc } = await received(message);
    assert.deepEqual([folder, dmarc], ['INBOX', 'pass']);
    assert.match(textAt(rest, 'text'), /€ 100/);
    assert.match(agent, /€ 100/);
    assert.match(structure, /"text" "plain" .*"quoted-printable"/i);
  });

  for (const name of ['base64 of words', 'UTF-16', 'a program by a name of the disposition', 'a message'])
    it(`${name}: Junk, unauthenticated, and no agent is told that it is verified`, async () => {
      const [message, headerList, change] = ATTACKS[name] ?? assert.fail();
      const changed = change((await signed(message, { headerList })).toString('latin1'));
      const { rest, agent, structure, folder, dmarc } = await received(Buffer.from(changed, 'latin1'));
      assert.deepEqual([folder, at(rest, 'labels'), dmarc], ['Junk', ['unauthenticated'], 'fail']);
      assert.match(agent, /unauthenticated/);
      assert.match(structure, /BODYSTRUCTURE/);
    });
});
