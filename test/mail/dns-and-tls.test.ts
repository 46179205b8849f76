import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { dnsLookup } from '#mail/smtp/dns-resolver.ts';
import { type CertificatePair, openCertificate } from '#mail/tls.ts';
import { testDns } from '#test/support/dns-server.ts';
import { testLog, testSettings } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

describe('DNS look-ups', () => {
  it('ask the servers of DNS_SERVERS, remember answers for 30 s, misses too', async () => {
    const dns = await testDns();
    try {
      let now = 0;
      const lookup = dnsLookup([dns.address], () => now);
      dns.records = [{ type: 'TXT', name: 'a.test', value: 'one' }];
      assert.deepEqual(await lookup('a.test', 'TXT'), [['one']]);
      await assert.rejects(lookup('b.test', 'TXT'), { code: 'ENOTFOUND' });
      dns.records = [
        { type: 'TXT', name: 'a.test', value: 'two' },
        { type: 'TXT', name: 'b.test', value: 'new' },
      ];
      assert.deepEqual(await lookup('A.test', 'TXT'), [['one']]);
      await assert.rejects(lookup('b.test', 'TXT'), { code: 'ENOTFOUND' });
      now = 30_001;
      assert.deepEqual(await lookup('a.test', 'TXT'), [['two']]);
      assert.deepEqual(await lookup('b.test', 'TXT'), [['new']]);
    } finally {
      await dns.close();
    }
  });
});

describe('the certificate of the mail listeners', () => {
  it('is read again when its files change; a pair that does not fit is not taken', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mail-tls-'));
    const made = ['one', 'two'].map((name) => {
      mkdirSync(path.join(folder, name));
      return developmentCertificates(path.join(folder, name), [`${name}.test`]);
    });
    const [first, second] = made;
    assert.ok(first && second);
    const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
    let age = 100;
    const put = (from: string, to: string) => {
      copyFileSync(from, to);
      const time = Date.now() / 1000 - age--; // a time of its own for each change, whatever the clock's grain
      utimesSync(to, time, time);
    };
    put(first.certFile, cert);
    put(first.keyFile, key);
    const seen: CertificatePair[] = [];
    const files = await openCertificate(testSettings({ TLS_CERT: cert, TLS_KEY: key }), testLog(), (pair) =>
      seen.push(pair),
    );
    try {
      put(second.certFile, cert);
      put(second.keyFile, key);
      await waitUntil('the new certificate', () => seen.length > 0);
      assert.ok(files.current.cert.equals(readFileSync(second.certFile)));
    } finally {
      files.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  it('stops the start with its file name when it is missing', async () => {
    await assert.rejects(
      openCertificate(
        testSettings({ TLS_CERT: '/nowhere/cert.pem', TLS_KEY: '/nowhere/key.pem' }),
        testLog(),
        () => {},
      ),
      /\/nowhere\/cert\.pem/,
    );
  });
});
