/** That what leaves is genuine to a receiver: SPF, DKIM and DMARC by mailauth, and DKIM by dkimpy, which shares no code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { runProgram } from '#test/mail/clients/run-program.ts';
import { type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import type { Received } from '#test/support/outbound-world.ts';
import { needs, programFile } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  openSendingWorld,
  passwordOf,
  SENDING_ENTRY_POINTS,
  type SendingEntryPoint,
  type SendingWorld,
} from './sending-world.ts';

const PYTHON = 'python3 with dkim';
const SCRIPT = fileURLToPath(new URL('../mail/clients/dkim_verify.py', import.meta.url));

let world: SendingWorld;
let from: TestMailbox;
before(async () => {
  world = await openSendingWorld();
  const organization = await world.api.newOrganization('unlimited');
  from = organization.mailbox;
  await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(() => world?.close());

const TEXT = 'Grüße aus Köln.\n.a line with a dot\n\nFrom here on trailing spaces:  \n\n\n';
const HTML = `<p>Grüße aus <b>Köln</b></p>${'<p>A long line that goes on and on. </p>'.repeat(40)}`;
const ATTACHED = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256));

/** What a letter may hold, by the name of the case. */
interface Content {
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attached?: boolean;
}
const LETTERS: Readonly<Record<string, Content>> = {
  'plain words': { subject: 'Hello', text: 'Some words.\n' },
  'headers and text beyond ASCII': {
    subject: 'Überweisung № 7 – 東京 🚀 and so on until the line must be folded',
    text: TEXT,
  },
  'multipart with HTML and an attachment': { subject: 'Rechnung', text: TEXT, html: HTML, attached: true },
};

const FILE = 'Rechnung März.pdf';

async function send(entry: SendingEntryPoint, content: Content, to: string, bcc: string): Promise<void> {
  const { subject, text, html, attached } = content;
  if (entry === 'REST') {
    const attachments = [
      { filename: FILE, contentType: 'application/pdf', contentBase64: ATTACHED.toString('base64') },
    ];
    const answer = await world.api.call('POST', '/api/mailbox/messages', {
      as: from.token,
      body: {
        to: [`Ännchen <${to}>`],
        bcc: [bcc],
        subject,
        text,
        ...(html === undefined ? {} : { html }),
        ...(attached ? { attachments } : {}),
      },
    });
    assert.equal(answer.status, 201, answer.text);
    assert.notEqual(textAt(answer.body, 'id'), '');
    return;
  }
  const { host, port } = world.mail.submission;
  const transport = createTransport({
    host,
    port,
    secure: true,
    auth: { user: from.address, pass: passwordOf(from) },
    tls: { ca: readFileSync(testTls().caFile), servername: 'localhost' },
  });
  try {
    await transport.sendMail({
      from: { name: 'Ägentin', address: from.address },
      to: { name: 'Ännchen', address: to },
      subject,
      text,
      ...(html === undefined ? {} : { html }),
      ...(attached ? { attachments: [{ filename: FILE, content: ATTACHED }] } : {}),
      // In the bytes too, as clients do that leave it to the server.
      headers: { Bcc: bcc },
      envelope: { from: from.address, to: [to, bcc] },
    });
  } finally {
    transport.close();
  }
}

async function records(): Promise<Record<string, string>> {
  const [key] = await world.api.sql(`select selector, public_key from dkim_key where domain = 'agents.test'`);
  return {
    [`${String(key?.['selector'])}._domainkey.agents.test`]: `v=DKIM1; k=rsa; p=${String(key?.['public_key'])}`,
  };
}

async function authenticate({ bytes, from: envelopeFrom }: Received): Promise<string[]> {
  const dns = dnsStub({
    'agents.test': 'v=spf1 ip4:127.0.0.1 -all',
    '_dmarc.agents.test': 'v=DMARC1; p=reject; adkim=s; aspf=s',
    ...(await records()),
  });
  const facts = {
    received: bytes,
    envelopeFrom,
    remoteAddress: '127.0.0.1',
    helo: 'mail.test',
    hostname: 'mx.example.com',
  };
  const { results } = await checkSender(facts, dns);
  return [results.spf.result, results.dkim.result, results.dmarc.result];
}

async function dkimpy(message: Buffer): Promise<unknown> {
  const input = JSON.stringify({ message: message.toString('base64'), records: await records() });
  const { stdout, stderr } = await runProgram(programFile(PYTHON), [SCRIPT], { input });
  assert.match(stdout, /^\{/, stderr);
  return JSON.parse(stdout);
}

for (const entry of SENDING_ENTRY_POINTS)
  for (const [what, content] of Object.entries(LETTERS))
    test(
      `${what}, sent by ${entry}, pass SPF, DKIM and DMARC, and a change is noticed; Bcc is in the envelope alone`,
      needs(PYTHON),
      async () => {
        world.peer.received.length = 0;
        const [to, bcc] = ['ann@example.com', 'secret@example.net'];
        await send(entry, content, to, bcc);
        const mail = await waitUntil('the mail', () => world.peer.received[0], 60_000);
        assert.deepEqual(mail.to.toSorted(), [to, bcc]);
        const text = mail.bytes.toString('latin1');
        assert.doesNotMatch(text, /^bcc:/im);
        assert.doesNotMatch(text, /secret@example/);
        assert.deepEqual(await authenticate(mail), ['pass', 'pass', 'pass']);
        assert.deepEqual(await dkimpy(mail.bytes), { verified: true });
        // One character of the body, and one of a signed field.
        const end = text.lastIndexOf('\r\n', text.length - 3) + 2;
        for (const changed of [
          `${text.slice(0, end)}x${text.slice(end)}`,
          text.replace(/^Subject: /m, 'Subject: Not '),
        ]) {
          assert.notEqual(changed, text);
          const bytes = Buffer.from(changed, 'latin1');
          const [, dkim, dmarc] = await authenticate({ ...mail, bytes });
          assert.notEqual(dkim, 'pass');
          assert.equal(dmarc, 'pass', 'SPF still aligns');
          assert.deepEqual(await dkimpy(bytes), { verified: false });
        }
      },
    );

test('mail from an address that SPF does not name passes DMARC by its signature alone', async () => {
  const [mail] = world.peer.received;
  assert.ok(mail);
  const dns = dnsStub({
    'agents.test': 'v=spf1 ip4:192.0.2.1 -all',
    '_dmarc.agents.test': 'v=DMARC1; p=reject; adkim=s; aspf=s',
    ...(await records()),
  });
  const facts = {
    received: mail.bytes,
    envelopeFrom: mail.from,
    remoteAddress: '127.0.0.1',
    helo: 'x',
    hostname: 'mx.test',
  };
  const { results } = await checkSender(facts, dns);
  assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['fail', 'pass', 'pass']);
});
