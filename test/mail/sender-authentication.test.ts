import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { judgeSender } from '../../mail/smtp/authenticate-sender.ts';
import type { DnsLookup } from '../../mail/smtp/dns-resolver.ts';
import { dnsStub, letter } from './mail-world.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const RECORDS = {
  'example.com': 'v=spf1 ip4:192.0.2.1 -all',
  '_dmarc.example.com': 'v=DMARC1; p=quarantine',
  's1._domainkey.example.com': `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
};

async function signed(message: string): Promise<Buffer> {
  const bytes = Buffer.from(message.replace(/\n/g, '\r\n'));
  const key = { signingDomain: 'example.com', selector: 's1', privateKey };
  const { signatures } = await dkimSign(bytes, { ...key, signatureData: [key] });
  return Buffer.concat([Buffer.from(signatures), bytes]);
}

const judge = (
  received: Buffer,
  remoteAddress: string,
  lookup: DnsLookup = dnsStub(RECORDS),
  envelopeFrom = 'bob@example.com',
) => judgeSender({ received, remoteAddress, helo: 'mx.example.com', envelopeFrom, hostname: 'mail.test' }, lookup);

describe('sender authentication', () => {
  it('passes SPF, DKIM and DMARC for the true sender', async () => {
    const { results, header, unauthenticated } = await judge(await signed(letter()), '192.0.2.1');
    assert.equal(results.spf.result, 'pass');
    assert.deepEqual(results.dkim, {
      result: 'pass',
      signatures: [{ result: 'pass', domain: 'example.com', selector: 's1' }],
    });
    assert.deepEqual(results.dmarc, { result: 'pass', domain: 'example.com', policy: 'quarantine' });
    assert.equal(unauthenticated, false);
    assert.match(header, /^Authentication-Results: mail\.test;\r\n[^]*\r\n$/);
    assert.doesNotMatch(header, /\r\n\S[^]/, 'one field, folded');
  });
  it('passes DMARC by DKIM alone when the mail was forwarded', async () => {
    const { results } = await judge(await signed(letter()), '198.51.100.9');
    assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['fail', 'pass', 'pass']);
  });
  it('fails a message changed on its way, under the policy of its sender', async () => {
    const message = await signed(letter());
    const changed = Buffer.from(message.toString('latin1').replace('Some words', 'Other words'), 'latin1');
    const { results, unauthenticated } = await judge(changed, '198.51.100.9');
    assert.notEqual(results.dkim.result, 'pass');
    assert.equal(results.dmarc.result, 'fail');
    assert.equal(unauthenticated, true);
  });
  it('fails nobody who has no policy', async () => {
    const { results, unauthenticated } = await judge(Buffer.from(letter()), '198.51.100.9', dnsStub());
    assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['none', 'none', 'none']);
    assert.equal(unauthenticated, false);
  });
  it('says temperror, and refuses nobody, while DNS is away', async () => {
    const away: DnsLookup = async () => {
      throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' });
    };
    const { results, unauthenticated } = await judge(await signed(letter()), '192.0.2.1', away);
    assert.deepEqual(
      [results.spf.result, results.dkim.result, results.dmarc.result],
      ['temperror', 'temperror', 'temperror'],
    );
    assert.equal(unauthenticated, false);
  });
  it('judges mail with the null sender and mail without From', async () => {
    const bounce = await judge(
      Buffer.from('Return-Path: <bob@example.com>\r\nSubject: x\r\n\r\nx\r\n'),
      '192.0.2.1',
      dnsStub(RECORDS),
      '',
    );
    assert.equal(bounce.results.dmarc.result, 'none');
  });
});
