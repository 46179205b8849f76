/** What a DKIM signature does not cover, and what a header says twice, proves nothing about its author. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SINGLE_FIELDS } from '@agent-mailbox/mime-structure/header-fields';
import { startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at } from '#test/support/api-world.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { authenticate, RECORDS, signed } from './signed-mail.ts';

const LIKE_GMAIL = 'to:subject:message-id:date:from:mime-version:in-reply-to:references:reply-to';
const LIKE_MICROSOFT = 'From:Date:Subject:Message-ID:Content-Type:MIME-Version';

const TWO_PARTS = [
  'From: Bob <bob@example.com>',
  'To: agent@agents.test',
  'Subject: Two parts',
  'Message-ID: <two@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/alternative; boundary="outer"',
  '',
  '--outer',
  'Content-Type: text/plain',
  '',
  'My words. You wrote:',
  '--inner',
  'Content-Type: text/plain',
  '',
  'Words of somebody else.',
  '--inner--',
  '--outer',
  'Content-Type: text/html',
  '',
  '<p>My words</p>',
  '--outer--',
  '',
].join('\n');

describe('a valid signature', () => {
  it('counts where it covers everything', async () => {
    const { results } = await authenticate(await signed(letter()));
    assert.equal(results.dmarc.result, 'pass');
    assert.deepEqual(results.dkim.signatures[0]?.unsigned, []);
  });

  it('counts with a length that covers the whole body', async () => {
    const { results } = await authenticate(await signed(letter('Hello', '', 'Words\n'), { maxBodyLength: 7 }));
    assert.deepEqual([results.dkim.result, results.dmarc.result], ['pass', 'pass']);
  });

  for (const maxBodyLength of [0, 5])
    it(`of ${maxBodyLength} bytes of the body is not acceptable, and its author not verified`, async () => {
      const { results, header, consequence } = await authenticate(await signed(letter(), { maxBodyLength }));
      assert.equal(results.dkim.result, 'policy');
      assert.equal(results.dkim.signatures[0]?.result, 'policy');
      assert.deepEqual(results.dkim.signatures[0]?.unsigned, ['body']);
      assert.equal(results.dmarc.result, 'fail');
      assert.equal(consequence, 'unauthenticated');
      assert.match(header, /dkim=policy \(\d+ bytes of the body are not signed\)/);
    });

  it('does not cover text that was appended', async () => {
    const body = 'Some words.\n';
    const message = await signed(letter('Hello', '', body), { maxBodyLength: body.length + 1 });
    const { results } = await authenticate(Buffer.concat([message, Buffer.from('Pay to another account.\r\n')]));
    assert.deepEqual([results.dkim.result, results.dmarc.result], ['policy', 'fail']);
  });

  it('of the first bytes does not take the place of one that covers everything', async () => {
    const full = await signed(letter());
    const both = await signed(full.toString('latin1'), { maxBodyLength: 3 });
    const { results } = await authenticate(both);
    assert.deepEqual(
      results.dkim.signatures.map(({ result }) => result),
      ['policy', 'pass'],
    );
    assert.equal(results.dmarc.result, 'pass');
  });

  it('without Subject is not acceptable', async () => {
    const { results } = await authenticate(await signed(letter(), { headerList: 'From:To:Message-ID' }));
    assert.deepEqual([results.dkim.result, results.dmarc.result], ['policy', 'fail']);
    assert.deepEqual(results.dkim.signatures[0]?.unsigned, ['subject']);
  });

  it('without To and Reply-To counts, as large senders sign, and names what it does not cover', async () => {
    const message = letter('Hello', 'Reply-To: other@example.net\nContent-Type: text/plain\n');
    const { results } = await authenticate(await signed(message, { headerList: LIKE_MICROSOFT }));
    assert.equal(results.dmarc.result, 'pass');
    assert.deepEqual(results.dkim.signatures[0]?.unsigned, ['reply-to', 'to']);
  });

  describe('without Content-Type', () => {
    const asSigned = async (message: string, change: (text: string) => string = (text) => text) => {
      const bytes = await signed(message, { headerList: LIKE_GMAIL });
      return authenticate(Buffer.from(change(bytes.toString('latin1')), 'latin1'));
    };
    const html = (type: string, body: string) => letter('Hello', `MIME-Version: 1.0\nContent-Type: ${type}\n`, body);

    it('counts where the body begins with its delimiter', async () => {
      const { results } = await asSigned(TWO_PARTS);
      assert.equal(results.dmarc.result, 'pass');
      assert.deepEqual(results.dkim.signatures[0]?.unsigned, ['content-type']);
    });
    it('counts behind the usual sentence in front of the first part', async () => {
      const { results } = await asSigned(
        TWO_PARTS.replace('\n--outer', '\nThis is a multi-part message in MIME format.\n--outer'),
      );
      assert.equal(results.dmarc.result, 'pass');
    });
    it('does not count with another boundary, which makes a quotation the message', async () => {
      const { results } = await asSigned(TWO_PARTS, (text) => text.replace('boundary="outer"', 'boundary="inner"'));
      assert.deepEqual([results.dkim.result, results.dmarc.result], ['policy', 'fail']);
    });
    it('does not count where plain text was made a multipart', async () => {
      const plain = letter(
        'Hello',
        'Content-Type: text/plain\n',
        'My words\n--x\nContent-Type: text/plain\n\nNot mine\n',
      );
      const { results } = await asSigned(plain, (text) => text.replace('text/plain', 'multipart/mixed; boundary=x'));
      assert.equal(results.dmarc.result, 'fail');
    });
    it('does not count where plain text was made HTML', async () => {
      const plain = html('text/plain', 'My words.\n<style>*{display:none}</style>\n');
      assert.equal((await asSigned(plain)).results.dmarc.result, 'pass');
      const { results } = await asSigned(plain, (text) => text.replace('text/plain', 'text/html'));
      assert.equal(results.dmarc.result, 'fail');
    });
    it('does not count in any spelling that is read as a multipart or as HTML', async () => {
      const plain = html('text/plain', 'My words\n--x\nContent-Type: text/plain\n\nNot mine\n');
      for (const type of [
        'multipart /mixed; boundary=x',
        'multipart/ mixed; boundary=x',
        'text / html',
        'TEXT/HTML x',
      ]) {
        const { results } = await asSigned(plain, (text) => text.replace('text/plain', type));
        assert.equal(results.dmarc.result, 'fail', type);
      }
    });
    it('counts with HTML that begins with a tag, also in base64', async () => {
      assert.equal((await asSigned(html('text/html', '<p>Hello</p>\n'))).results.dmarc.result, 'pass');
      const encoded = html(
        'text/html; charset=utf-8\nContent-Transfer-Encoding: base64',
        `${Buffer.from('<!doctype html><p>Hello</p>').toString('base64')}\n`,
      );
      assert.equal((await asSigned(encoded)).results.dmarc.result, 'pass');
    });
  });

  it('over a body that was changed is a failure', async () => {
    const message = await signed(letter());
    const changed = Buffer.from(message.toString('latin1').replace('Some words', 'Other words'), 'latin1');
    const { results, header } = await authenticate(changed);
    assert.equal(results.dkim.result, 'fail');
    assert.equal(results.dkim.signatures[0]?.result, 'fail');
    assert.match(header, /dkim=fail \(body hash did not verify\)/);
  });
});

describe('a field that may occur once and occurs twice', () => {
  for (const name of SINGLE_FIELDS)
    it(`${name}: nothing is verified, however the message came`, async () => {
      const own = letter('Hello', 'Sender: bob@example.com\nMIME-Version: 1.0\nContent-Type: text/plain\n');
      const message = await signed(own);
      const twice = Buffer.concat([
        Buffer.from(`${name}: ${name === 'from' ? 'eve@example.com' : 'added'}\r\n${name}: again\r\n`),
        message,
      ]);
      for (const address of ['198.51.100.9', '192.0.2.1']) {
        const { results, header, consequence } = await authenticate(twice, address);
        assert.deepEqual(
          [results.dmarc.result, results.dmarc.policy, consequence],
          ['permerror', 'reject', 'unauthenticated'],
        );
        assert.match(
          header.replace(/\r\n\s+/g, ' '),
          new RegExp(`dmarc=permerror \\(given more than once: .*\\b${name}\\b`),
        );
      }
    });
});

describe('a message without an author', () => {
  for (const from of ['', 'From: \n', 'From: undisclosed;\n', 'From: Bob Builder\n', 'From: <>\n'])
    it(`${JSON.stringify(from)} is not authenticated`, async () => {
      const { results, consequence } = await authenticate(
        Buffer.from(`${from}To: agent@agents.test\nSubject: x\n\nx\n`.replaceAll('\n', '\r\n')),
        '192.0.2.1',
      );
      assert.deepEqual([results.dmarc.result, consequence], ['permerror', 'unauthenticated']);
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
    await mail.close();
    await world.close();
  });
  async function received(message: Buffer) {
    const { mailbox } = world.organization;
    const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
    const reply = await client.send('bob@example.com', [mailbox.address], message);
    client.close();
    const id = /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
    return (await world.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token })).body;
  }

  it('what is not covered is labelled and put into Junk; the signature says what it left out', async () => {
    const message = await signed(letter(), { maxBodyLength: 4 });
    const body = await received(Buffer.concat([message, Buffer.from('More.\r\n')]));
    assert.deepEqual([at(body, 'folders'), at(body, 'labels')], [['Junk'], ['unauthenticated']]);
    assert.deepEqual(at(body, 'authentication', 'dkim', 'signatures'), [
      { result: 'policy', domain: 'example.com', selector: 's1', unsigned: ['body'] },
    ]);
  });
  it('a second Subject is not shown as verified', async () => {
    const body = await received(Buffer.concat([Buffer.from('Subject: Urgent\r\n'), await signed(letter('Hello'))]));
    assert.deepEqual([at(body, 'folders'), at(body, 'labels')], [['Junk'], ['unauthenticated']]);
    assert.equal(at(body, 'authentication', 'dmarc', 'result'), 'permerror');
  });
  it('a message without an author is labelled', async () => {
    const body = await received(Buffer.from('Subject: x\r\n\r\nx\r\n'));
    assert.deepEqual([at(body, 'from'), at(body, 'labels')], [null, ['unauthenticated']]);
  });
});
