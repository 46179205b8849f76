/** Own DKIM signatures verify on any lines and spaces, and nobody can add a field to what they sign. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth';
import { signatureField } from '#sending/transports/dkim.ts';
import { dnsStub } from '#test/support/mail-world.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const records = { 's1._domainkey.example.com': `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` };
const key = { selector: 's1', privateKey };

const signed = (message: string): Buffer => {
  const bytes = Buffer.from(message.replace(/\r?\n/g, '\r\n'));
  return Buffer.concat([Buffer.from(signatureField(bytes, 'example.com', key, new Date())), bytes]);
};
async function verified(message: Buffer): Promise<string | undefined> {
  const { results } = await dkimVerify(message, { resolver: dnsStub(records) });
  return results[0]?.status.result;
}

const HEADER =
  'From: Bob <bob@example.com>\nTo: a@x.test,\n b@x.test\nSubject:   two  words \t\nDate: Mon, 5 Jan 2026 09:00:00 +0000\nMessage-ID: <1@example.com>\nMIME-Version: 1.0\nList-Id: <l.example.com>\nReceived: one\nReceived: two\n';
const BODIES: Readonly<Record<string, string>> = {
  'no body': '',
  'no line end': '\nwords',
  'spaces at the end': '\nwords  \nmore \t \n \n\n  ',
  'empty lines only': '\n\n\n\n',
  'a space only': '\n ',
  'empty lines first': '\n\n\nwords\n\n\n',
  'bytes above 127': '\nGrüße \u00a0 из Кёльна\n',
};

for (const [name, body] of Object.entries(BODIES))
  test(`a signature verifies with mailauth: ${name}`, async () => {
    assert.equal(await verified(signed(HEADER + body)), 'pass');
  });

test('a signature verifies on any text', async () => {
  const piece = fc.constantFrom('a', ' ', '\t', '\n', '\n\n', '  ', 'ü', '.', ':', ';');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), fc.array(piece, { maxLength: 30 }), async (subject, body) => {
      const value = subject.join('').replaceAll('\n', ' ');
      assert.equal(await verified(signed(`From: bob@example.com\nSubject:${value}\n\n${body.join('')}`)), 'pass');
    }),
    { numRuns: 200 },
  );
});

const ADDED = [
  'From',
  'Reply-To',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
];
for (const name of ADDED)
  test(`nobody can add ${name} to a signed message`, async () => {
    const message = signed(`${HEADER}\nwords\n`);
    assert.equal(await verified(Buffer.concat([Buffer.from(`${name}: added\r\n`), message])), 'fail');
  });

test('a mailing list may add Sender', async () => {
  const message = signed(`${HEADER}\nwords\n`);
  assert.equal(await verified(Buffer.concat([Buffer.from('Sender: list@list.test\r\n'), message])), 'pass');
  const own = signed(`Sender: bob@example.com\n${HEADER}\nwords\n`);
  assert.equal(await verified(Buffer.concat([Buffer.from('Sender: list@list.test\r\n'), own])), 'fail');
});

test('no line of a signature is longer than mail wants (RFC 5322 §2.1.1)', () => {
  const lines = signatureField(Buffer.from(`${HEADER}\r\n\r\n`), 'example.com', key, new Date()).split('\r\n');
  for (const line of lines) assert.ok(line.length <= 78, line);
});
