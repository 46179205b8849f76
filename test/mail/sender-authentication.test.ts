import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import type { DnsLookup } from '#mail/smtp/dns-resolver.ts';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';

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

const SLOW_ANSWER_MS = 1_100;

const authenticate = (
  received: Buffer,
  remoteAddress: string,
  lookup: DnsLookup = dnsStub(RECORDS),
  envelopeFrom = 'bob@example.com',
) => checkSender({ received, remoteAddress, helo: 'mx.example.com', envelopeFrom, hostname: 'mail.test' }, lookup);

describe('sender authentication', () => {
  it('passes SPF, DKIM and DMARC for the true sender', async () => {
    const { results, header, consequence } = await authenticate(await signed(letter()), '192.0.2.1');
    assert.equal(results.spf.result, 'pass');
    assert.deepEqual(results.dkim, {
      result: 'pass',
      signatures: [{ result: 'pass', domain: 'example.com', selector: 's1', unsigned: [] }],
    });
    assert.deepEqual(results.dmarc, { result: 'pass', domain: 'example.com', policy: 'quarantine' });
    assert.equal(consequence, 'none');
    assert.match(header, /^Authentication-Results: mail\.test;\r\n[^]*\r\n$/);
    assert.doesNotMatch(header, /\r\n\S[^]/, 'one field, folded');
  });
  it('passes DMARC by DKIM alone when the mail was forwarded', async () => {
    const { results } = await authenticate(await signed(letter()), '198.51.100.9');
    assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['fail', 'pass', 'pass']);
  });
  it('fails a message changed in transit, under the policy of its sender', async () => {
    const message = await signed(letter());
    const changed = Buffer.from(message.toString('latin1').replace('Some words', 'Other words'), 'latin1');
    const { results, consequence } = await authenticate(changed, '198.51.100.9');
    assert.equal(results.dkim.result, 'fail');
    assert.equal(results.dmarc.result, 'fail');
    assert.equal(consequence, 'unauthenticated');
  });
  it('fails no sender without a policy', async () => {
    const { results, consequence } = await authenticate(Buffer.from(letter()), '198.51.100.9', dnsStub());
    assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['none', 'none', 'none']);
    assert.equal(consequence, 'none');
  });
  it('says temperror, and refuses nobody, while DNS is unreachable', async () => {
    const away: DnsLookup = async () => {
      throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' });
    };
    const { results, consequence } = await authenticate(await signed(letter()), '192.0.2.1', away);
    assert.deepEqual(
      [results.spf.result, results.dkim.result, results.dmarc.result],
      ['temperror', 'temperror', 'temperror'],
    );
    assert.equal(consequence, 'none');
  });
  it('fails the policy of the author while SPF of another domain exceeds the time limit', async () => {
    const records: Record<string, string> = { '_dmarc.example.com': 'v=DMARC1; p=reject' };
    for (let i = 0; i < 10; i++) records[`i${i}.evil.test`] = `v=spf1 include:i${i + 1}.evil.test -all`;
    const quick = dnsStub(records);
    // Each answer arrives in time; all of them together take more than the ten seconds of all checks.
    const slow: DnsLookup = async (name, type) => {
      if (name.endsWith('evil.test')) await delay(SLOW_ANSWER_MS, undefined, { ref: false });
      return quick(name, type);
    };
    const facts = { received: Buffer.from(letter()), remoteAddress: '198.51.100.9', helo: 'mx.evil.test' };
    const { results, consequence } = await checkSender(
      { ...facts, envelopeFrom: 'x@i0.evil.test', hostname: 'mail.test' },
      slow,
      { checkMs: SLOW_ANSWER_MS * 2, policyMs: SLOW_ANSWER_MS, alignmentMs: SLOW_ANSWER_MS },
    );
    assert.equal(results.spf.result, 'temperror');
    assert.deepEqual(results.dmarc, { result: 'fail', domain: 'example.com', policy: 'reject' });
    assert.equal(consequence, 'unauthenticated');
  });
  it('checks mail with the null sender and mail without From', async () => {
    const bounce = await authenticate(
      Buffer.from('Return-Path: <bob@example.com>\r\nSubject: x\r\n\r\nx\r\n'),
      '192.0.2.1',
      dnsStub(RECORDS),
      '',
    );
    assert.equal(bounce.results.dmarc.result, 'permerror');
  });
});
