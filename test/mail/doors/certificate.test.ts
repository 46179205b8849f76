import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { developmentCertificates } from '../../../dev/certificates.ts';
import { openDoor } from '../../../mail/listeners.ts';
import { tlsContext } from '../../../mail/tls.ts';
import { testLog, testTls } from '../../support/services.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'certificate-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const pairOf = ({ certFile, keyFile }: { certFile: string; keyFile: string }) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

test('a new certificate is shown to new connections, and the old ones live on; TLS 1.1 is refused', async () => {
  const context = tlsContext(pairOf(testTls()));
  const door = await openDoor({
    name: 'echo',
    host: '127.0.0.1',
    port: 0,
    proxyFrom: [],
    tls: context,
    log: testLog(),
    serve({ socket }) {
      socket.pipe(socket);
      return { stop: () => socket.destroy() };
    },
  });
  after(() => door.close(0));
  const connect = async (options: tls.ConnectionOptions = {}) => {
    const socket = tls.connect({ port: door.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    await once(socket, 'secureConnect');
    return socket;
  };
  const before = await connect();
  context.useCertificate(pairOf(developmentCertificates(folder, ['renewed.test'])));
  const behind = await connect();
  assert.notEqual(behind.getPeerCertificate().fingerprint256, before.getPeerCertificate().fingerprint256);
  assert.match(behind.getPeerCertificate().subjectaltname ?? '', /renewed\.test/);
  before.write('still there');
  assert.equal(String((await once(before, 'data'))[0]), 'still there');
  await assert.rejects(connect({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }));
  before.destroy();
  behind.destroy();
});
