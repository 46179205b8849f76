/** Senders write line breaks into subjects, names and file names; wherever these are shown, they are one line. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type MailListeners, startMail } from '#mail/start.ts';
import { newFolderName } from '#mailstore/folders/folders.ts';
import { readMessage } from '#mime/read-message.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

const BREAKS: Readonly<Record<string, string>> = {
  CRLF: '\r\n',
  CR: '\r',
  LF: '\n',
  VT: '\v',
  FF: '\f',
  ESC: '\u001b',
  NEL: '\u0085',
  LS: '\u2028',
  PS: '\u2029',
};
const FORGED = 'X-Evil: 1';
const BROKEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const word = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

function hostileMail(brk: string, to: string): Buffer {
  const evil = `a${brk}${FORGED}`;
  return Buffer.from(
    [
      `From: ${word(evil)} <bob@example.com>`,
      `To: ${word(evil)} <${to}>, "b${brk.length === 1 && brk !== '\n' ? brk : ' '}c" <carol@example.com>`,
      `Reply-To: ${word(evil)} <r@example.com>`,
      `Subject: ${word(evil)} ${brk === '\r\n' || brk === '\n' ? '' : `raw${brk}raw`}`,
      `Message-ID: <${Math.random()}@example.com>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      `Some${brk}words`,
      '--b',
      `Content-Type: text/plain; name="${word(evil)}"`,
      `Content-Disposition: attachment; filename*=utf-8''${percent(evil)}`,
      `Content-ID: <i${brk === '\r\n' || brk === '\n' ? '' : brk}d@example.com>`,
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n'),
  );
}

describe('fields that are one line by nature', () => {
  for (const [name, brk] of Object.entries(BREAKS))
    it(`are one line where the sender wrote ${name}`, () => {
      const read = readMessage(hostileMail(brk, 'bot@agents.test'));
      const shown = [
        read.subject,
        read.preview,
        ...[...read.from, ...read.to].flatMap((each) => [each.name, each.address]),
        ...read.attachments.flatMap(({ filename, contentType, contentId }) => [filename, contentType, contentId]),
      ];
      for (const text of shown) assert.doesNotMatch(text ?? '', BROKEN);
      assert.match(read.subject, /^a X-Evil: 1/);
    });
  it('are one line as names of folders', () => {
    for (const brk of Object.values(BREAKS)) assert.throws(() => newFolderName(`a${brk}b`));
  });
});

describe('a message whose sender wrote line breaks into its header', () => {
  let world: ApiWorld;
  let mail: MailListeners;
  before(async () => {
    world = await apiWorld();
    mail = await startMail(world.services, { lookup: dnsStub() });
  });
  after(async () => {
    await mail.close();
    await world.close();
  });

  for (const [name, brk] of Object.entries(BREAKS))
    it(`forges no line in the API, in events, nor when it is forwarded (${name})`, async () => {
      const { mailbox } = world.organization;
      const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
      const reply = await client.send('bob@example.com', [mailbox.address], hostileMail(brk, mailbox.address));
      client.close();
      const id = /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);

      const shown = await world.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token });
      const fields = Object.entries(Object(shown.body)).filter(
        ([key]) => !['text', 'extractedText', 'html'].includes(key),
      );
      const texts = (value: unknown): string[] =>
        typeof value === 'string'
          ? [value]
          : typeof value === 'object' && value !== null
            ? Object.values(value).flatMap(texts)
            : [];
      for (const text of texts(fields)) assert.doesNotMatch(text, BROKEN);

      const [event] = await world.sql(`select payload from events where message_id = $1`, [id]);
      for (const text of texts(JSON.parse(String(event?.['payload']))))
        assert.doesNotMatch(text, /[\r\n\v\f\u0085\u2028\u2029]/);

      const forwarded = await world.call('POST', `/api/mailbox/messages/${id}/forward`, {
        as: mailbox.token,
        body: { to: [mailbox.address], text: 'See below' },
      });
      assert.equal(forwarded.status, 201, forwarded.text);
      const copy = await world.call('GET', `/api/mailbox/messages/${textAt(forwarded.body, 'id')}`, {
        as: mailbox.token,
      });
      const lines = textAt(copy.body, 'text').split(/\r\n|[\r\n\v\f\u0085\u2028\u2029]/);
      assert.deepEqual(
        lines.slice(2, 7).map((line) => line.replace(/:.*/, '')),
        ['---------- Forwarded message ----------', 'From', 'Date', 'Subject', 'To'],
      );
      assert.ok(!lines.slice(0, 8).some((line) => line.startsWith('X-Evil')), lines.join('|'));
      assert.equal(lines[7], '');
      assert.doesNotMatch(String(at(copy.body, 'subject')), BROKEN);
    });
});
