/** What files of other mail say does not leave as text, nor what other mail says in files. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openSendingWorld, type SendingWorld } from '#test/sending/sending-world.ts';
import { type Answer, type TestMailbox, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { docx, paragraph, pdf, pptx, xlsx } from '#test/support/documents.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: SendingWorld;
let organization: TestOrganization;
let agent: TestMailbox;
before(async () => {
  world = await openSendingWorld({ mail: { lookup: dnsStub({}) } });
});
after(() => world?.close());
beforeEach(async () => {
  organization = await world.api.newOrganization('unlimited');
  agent = organization.mailbox;
  const body = { settings: { outboundConsent: 'off' } };
  const set = await world.api.call('PATCH', '/api/organization', { as: organization.owner.session, body });
  assert.equal(set.status, 200, set.text);
});

const SECRET = [
  'The merger with Nordwind Shipping is signed on the third of March in Bergen',
  'and nobody outside the board may know the price of forty-one million crowns',
] as const;
const ALL = SECRET.join(' ');

const FILES: Readonly<Record<string, Buffer>> = {
  'a.pdf': pdf([[...SECRET]]),
  'a.docx': docx(SECRET.map(paragraph).join('')),
  'a.xlsx': xlsx([
    {
      name: 'One',
      rows: `<row r="1"><c r="A1" t="inlineStr"><is><t>${SECRET[0]}</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>${SECRET[1]}</t></is></c></row>`,
    },
  ]),
  'a.pptx': pptx([`<a:p><a:r><a:t>${SECRET[0]}</a:t></a:r></a:p><a:p><a:r><a:t>${SECRET[1]}</a:t></a:r></a:p>`]),
  'a.csv': Buffer.from(`text\n"${SECRET[0]}"\n"${SECRET[1]}"\n`),
  'a.html': Buffer.from(`<p>${SECRET[0]}</p><p>${SECRET[1]}</p>`),
};
const TYPES: Readonly<Record<string, string>> = {
  'a.csv': 'text/csv',
  'a.html': 'text/html',
  'a.pdf': 'application/pdf',
};

let number = 0;
async function receive(
  text: string,
  file?: readonly [name: string, bytes: Buffer],
  read: 'in the background' | 'not yet' = 'in the background',
): Promise<void> {
  const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
  const head = [
    'From: bank@bank.example',
    `To: ${agent.address}`,
    `Subject: Statement ${++number}`,
    `Message-ID: <d${number}@outside.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=cut',
    '',
    '--cut',
    'Content-Type: text/plain',
    '',
    text,
  ];
  const [name = '', bytes = Buffer.alloc(0)] = file ?? [];
  const part =
    file === undefined
      ? []
      : [
          '--cut',
          `Content-Type: ${TYPES[name] ?? 'application/octet-stream'}; name="${name}"`,
          `Content-Disposition: attachment; filename="${name}"`,
          'Content-Transfer-Encoding: base64',
          '',
          bytes.toString('base64').replace(/.{76}/g, '$&\n'),
        ];
  const answer = await client.send(
    'bank@bank.example',
    [agent.address],
    `${[...head, ...part, '--cut--'].join('\n')}\n`,
  );
  client.close();
  assert.match(answer, /^250/);
  if (read === 'not yet') return;
  await waitUntil(
    'stored mail to be read',
    async () => (await world.api.sql('select 1 from carried_due')).length === 0,
  );
}

const send = (body: object): Promise<Answer> =>
  world.api.call('POST', '/api/mailbox/messages', {
    as: agent.token,
    body: { to: ['mallory@evil.example'], subject: 'Here', text: 'As you asked.', ...body },
  });

async function heldBecause(answer: Answer): Promise<unknown> {
  const { status, body, text } = answer;
  assert.ok(status === 201 || status === 202, text);
  if (status === 201) return null;
  const [row] = await world.api.sql(`select held_because from consent where id = $1`, [textAt(body, 'consentId')]);
  return row?.['held_because'];
}

for (const [name, bytes] of Object.entries(FILES))
  test(`the text of ${name} in other mail`, async () => {
    await receive('Please see the file.', [name, bytes]);
    const answer = await send({ text: `He wrote that the ${ALL.slice(4)}.` });
    assert.equal(await heldBecause(answer), 'carries_other_mail');
    const shown = await world.api.call('GET', `/api/consents/${textAt(answer.body, 'consentId')}/message`, {
      as: organization.owner.session,
    });
    assert.match(textAt(shown.body, 'carried', 0, 'passages', 0, 'source'), /merger with Nordwind/);
    assert.equal(await heldBecause(await send({ text: 'We wait in Bergen.' })), null);
  });

test('the text of files of mail that came a moment ago, which the background has not read', async () => {
  // Another process has the turn, as it seems.
  const turn = (at: string) =>
    world.api.sql(
      `insert into sweeps (name, next_at) values ('carried mail', ${at}) on conflict (name) do update set next_at = excluded.next_at`,
    );
  await waitUntil('the turn', async () => {
    await turn(`now() + interval '1 hour'`);
    const [row] = await world.api.sql(
      `select next_at > now() + interval '30 minutes' as taken from sweeps where name = 'carried mail'`,
    );
    return row?.['taken'] === true;
  });
  try {
    for (const [name, bytes] of Object.entries(FILES)) await receive('Please see the file.', [name, bytes], 'not yet');
    const waiting = await world.api.sql('select 1 from carried_due');
    assert.ok(waiting.length >= Object.keys(FILES).length, `${waiting.length} wait`);
    assert.equal(await heldBecause(await send({ text: `He wrote that the ${ALL.slice(4)}.` })), 'carries_other_mail');
  } finally {
    await turn('now()');
  }
});

for (const [name, bytes] of Object.entries(FILES))
  test(`the text of other mail in ${name}, whatever its name and type`, async () => {
    await receive(ALL);
    const contentBase64 = bytes.toString('base64');
    for (const [filename, contentType] of [
      [name, 'application/octet-stream'],
      ['picture.png', 'image/png'],
    ]) {
      const answer = await send({ attachments: [{ filename, contentType, contentBase64 }] });
      assert.equal(await heldBecause(answer), 'carries_other_mail', filename);
    }
  });

test('a document that cannot be read is compared by its bytes, and holds nothing by itself', async () => {
  const damaged = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2_000, 'x')]);
  const attachment = (bytes: Buffer) => ({
    attachments: [{ filename: 'a.pdf', contentType: 'application/pdf', contentBase64: bytes.toString('base64') }],
  });
  assert.equal(await heldBecause(await send(attachment(damaged))), null);
  const other = Buffer.concat([damaged, Buffer.from('2')]);
  await receive('Please see the file.', ['a.pdf', other]);
  assert.equal(await heldBecause(await send(attachment(other))), 'carries_other_mail');
});
