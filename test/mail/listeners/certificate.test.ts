import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { connectionCounter, connectionTotal } from '#mail/connection-counter.ts';
import { openListener } from '#mail/listeners.ts';
import { tlsContext } from '#mail/tls.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { testLog, testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { developmentCertificates } from '../../../operations/certificates.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'certificate-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const pairOf = ({ certFile, keyFile }: { certFile: string; keyFile: string }) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

test('new connections get a new certificate, and old ones continue; TLS 1.1 is refused', async () => {
  const context = tlsContext(pairOf(testTls()));
  const listener = await openListener({
    name: 'echo',
    host: '127.0.0.1',
    port: 0,
    proxyFrom: [],
    tls: context,
    limits: { total: connectionTotal(100), sources: connectionCounter(100) },
    refusal: (reason) => reason,
    log: testLog(),
    mailLog: { refused() {} },
    serve({ socket }) {
      socket.pipe(socket);
      return { stop: () => socket.destroy() };
    },
  });
  after(() => listener.close(0));
  const connect = async (options: tls.ConnectionOptions = {}) => {
    const socket = tls.connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
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

/** Sends a line of SMTP and returns the last line of the answer. */
async function say(socket: net.Socket, line: string): Promise<string> {
  socket.write(line);
  let heard = '';
  while (!/^\d{3} .*\r\n$/m.test(heard)) heard += String((await once(socket, 'data'))[0]);
  return heard;
}

test('submission uses a renewed certificate for new connections with both kinds of TLS; old ones continue', async () => {
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const install = ({ cert, key }: { cert: Buffer; key: Buffer }) => {
    writeFileSync(keyFile, key);
    writeFileSync(certFile, cert);
  };
  install(pairOf(testTls()));
  const world = await openMailWorld({ settings: { TLS_CERT: certFile, TLS_KEY: keyFile } });
  after(() => world.close());
  const { submission, submissionStarttls } = world.mail;
  const sockets: tls.TLSSocket[] = [];
  const secured = async (options: tls.ConnectionOptions) => {
    const socket = tls.connect({ rejectUnauthorized: false, ...options });
    sockets.push(socket);
    await once(socket, 'secureConnect');
    return socket;
  };
  const ways = {
    async tls() {
      const socket = await secured(submission);
      assert.match(String((await once(socket, 'data'))[0]), /^220/);
      return socket;
    },
    async starttls() {
      const plain = net.connect(submissionStarttls);
      assert.match(String((await once(plain, 'data'))[0]), /^220/);
      await say(plain, 'EHLO client.test\r\n');
      assert.match(await say(plain, 'STARTTLS\r\n'), /^220/);
      plain.removeAllListeners('data');
      return secured({ socket: plain });
    },
  };
  const print = (socket: tls.TLSSocket) => socket.getPeerCertificate().fingerprint256;
  const printOfNew = async (way: keyof typeof ways) => {
    const socket = await ways[way]();
    const shown = print(socket);
    // Or more would be open than one address may have.
    socket.destroy();
    return shown;
  };
  const old = { tls: await ways.tls(), starttls: await ways.starttls() };
  install(pairOf(developmentCertificates(path.join(folder, 'second'), ['renewed.test'])));
  for (const way of ['tls', 'starttls'] as const) {
    await waitUntil(`the new certificate by ${way}`, async () => (await printOfNew(way)) !== print(old[way]));
    assert.match(await say(old[way], 'EHLO client.test\r\n'), /^250/);
    assert.match(await say(old[way], 'NOOP\r\n'), /^250/);
  }
  for (const socket of sockets) socket.destroy();
});
