import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { developmentCertificates } from '../../operations/certificates.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(path.join(tmpdir(), 'certificates-'));
after(() => rmSync(folder, { recursive: true }));
const host = () => new X509Certificate(readFileSync(path.join(folder, 'host.pem')));
const root = () => readFileSync(path.join(folder, 'ca.pem'), 'utf8');

test('a certificate contains the host, localhost and loopback, and is issued by the root', () => {
  const files = developmentCertificates(folder, ['mail.example.org', '127.0.0.1']);
  assert.equal(host().subjectAltName, 'DNS:localhost, DNS:mail.example.org, IP Address:127.0.0.1');
  assert.equal(host().checkIssued(new X509Certificate(readFileSync(files.caFile))), true);
});

test('nothing is renewed while it is valid', () => {
  const before = [host().serialNumber, root()];
  developmentCertificates(folder, ['mail.example.org']);
  assert.deepEqual([host().serialNumber, root()], before);
});

test('a new name or a near end renews the certificate and keeps the root', () => {
  const [first, rootBefore] = [host().serialNumber, root()];
  developmentCertificates(folder, ['other.example.org']);
  const second = host();
  assert.notEqual(second.serialNumber, first);
  assert.equal(second.checkHost('other.example.org'), 'other.example.org');
  developmentCertificates(folder, ['other.example.org'], Date.now() + 370 * DAY_MS);
  assert.notEqual(host().serialNumber, second.serialNumber);
  assert.equal(root(), rootBefore);
});
