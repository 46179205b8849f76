/** A signature made before the mail came in still holds on what mail clients fetch. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { testTls } from '#test/support/services.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const lookup = dnsStub({ 's1._domainkey.example.com': `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` });
const world = await openMailWorld({ lookup });
after(() => world.close());

async function signed(message: Buffer): Promise<Buffer> {
  const key = { signingDomain: 'example.com', selector: 's1', privateKey };
  const { signatures } = await dkimSign(message, { ...key, signatureData: [key] });
  return Buffer.concat([Buffer.from(signatures), message]);
}

async function verdict(received: Buffer): Promise<string> {
  const { results } = await checkSender(
    {
      received,
      remoteAddress: '192.0.2.1',
      helo: 'x.test',
      envelopeFrom: 'bob@example.com',
      hostname: 'elsewhere.test',
    },
    lookup,
  );
  return results.dkim.result;
}

async function byImap(mailbox: TestMailbox): Promise<Buffer[]> {
  const client = new ImapFlow({
    host: 'localhost',
    port: world.mail.imap.port,
    secure: true,
    auth: { user: mailbox.address, pass: mailbox.token },
    tls: { ca: readFileSync(testTls().caFile) },
    logger: false,
  });
  await client.connect();
  await client.mailboxOpen('INBOX');
  const messages = await client.fetchAll('1:*', { source: true });
  await client.logout();
  return messages.map(({ source }) => source ?? Buffer.alloc(0));
}

async function byPop3(mailbox: TestMailbox): Promise<Buffer[]> {
  const client = await LineClient.open(world.mail.pop3.port, { secure: true });
  await client.line();
  await client.command(`USER ${mailbox.address}`);
  const count = Number(/^\+OK (\d+)/.exec((await client.command(`PASS ${mailbox.token}`)) ?? '')?.[1]);
  const messages: Buffer[] = [];
  for (let number = 1; number <= count; number++) {
    await client.command(`RETR ${number}`);
    messages.push(Buffer.from((await client.body()).map((line) => `${line}\r\n`).join(''), 'latin1'));
  }
  client.close();
  return messages;
}

test('DKIM verifies on messages fetched by IMAP and POP3', async () => {
  const mailbox = await world.createMailbox('dkim');
  const bodies = [
    'Plain words.\n',
    '.leading dot\n..two\n\n\n\ntrailing  spaces  \n\n\n',
    'Grüße, naïve 8-bit: äöü\n',
    `${'x'.repeat(990)}\n`.repeat(500),
  ];
  for (const body of bodies) {
    const message = Buffer.from(letter('Signed', 'X-Odd:   spaces\n\tand a tab\n', body).replaceAll('\n', '\r\n'));
    assert.match(await world.send(mailbox.address, await signed(message)), /^250/);
  }
  for (const fetched of [await byImap(mailbox), await byPop3(mailbox)]) {
    assert.equal(fetched.length, bodies.length);
    for (const message of fetched) assert.equal(await verdict(message), 'pass');
  }
  const [first] = await byImap(mailbox);
  assert.notEqual(
    await verdict(Buffer.from(first?.toString('latin1').replace('Plain', 'Other') ?? '', 'latin1')),
    'pass',
  );
});
