/** Pebble, the certificate authority of Let's Encrypt for tests: real orders, checked by real connections. */
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import { programFile } from './programs.ts';
import { testPort } from './test-port.ts';
import { waitUntil } from './wait-until.ts';

export interface Pebble {
  /** For ACME_DIRECTORY. */
  readonly directory: string;
  /** For ACME_ROOTS: with which its own server is checked. */
  readonly rootsFile: string;
  /** PEM of the root of what it issues. */
  issuingRoot(): Promise<string>;
  close(): Promise<void>;
}

/** Pebble asks by TCP (RFC 7766), and the name server of tests answers by UDP. */
async function dnsByTcp(dnsServer: string): Promise<{ readonly address: string; close(): Promise<void> }> {
  const [host = '', port] = dnsServer.split(':');
  const open = new Set<Socket>();
  const server = createServer((client) => {
    let read = Buffer.alloc(0);
    client.on('error', () => {});
    client.on('data', (part: Buffer) => {
      read = Buffer.concat([read, part]);
      while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
        const question = read.subarray(2, 2 + read.readUInt16BE(0));
        read = read.subarray(2 + question.length);
        const asked = createSocket('udp4');
        open.add(asked);
        asked.once('message', (answer) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(answer.length);
          client.write(Buffer.concat([length, answer]));
        });
        asked.send(question, Number(port), host);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return {
    address: `127.0.0.1:${address.port}`,
    async close() {
      for (const asked of open) asked.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** In percent: valid nonces that it refuses, as an authority may at any time. */
const NONCES_REFUSED = '10';

/**
 * @param httpPort to which it connects for challenges
 * @param dnsServer `address:port`
 */
export async function startPebble(httpPort: number, dnsServer: string): Promise<Pebble> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pebble-'));
  const root = makeCertificate({ commonName: 'Pebble', validDays: 2, isCa: true });
  const issuer = { commonName: 'Pebble', key: root.key };
  const own = makeCertificate({
    commonName: 'localhost',
    validDays: 1,
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    issuer,
  });
  const file = (name: string, content: string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const [port, managementPort] = [await testPort(), await testPort()];
  const rootsFile = file('roots.pem', root.certPem);
  const resolver = await dnsByTcp(dnsServer);
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: file('own.pem', own.certPem),
      privateKey: file('own.key', own.keyPem),
      httpPort,
      tlsPort: 1,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      retryAfter: { authz: 1, order: 1 },
      profiles: { default: { description: 'the only one', validityPeriod: 7_776_000 } },
    },
  };
  const child = spawn(
    programFile('pebble'),
    ['-config', file('config.json', JSON.stringify(config)), '-dnsserver', resolver.address, '-strict'],
    {
      stdio: ['ignore', 'ignore', 'ignore'],
      env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: NONCES_REFUSED, PEBBLE_AUTHZREUSE: '0' },
    },
  );
  const closed = once(child, 'close');
  const get = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request(url, { ca: root.certPem, agent: false }, (response) => resolve(text(response)));
      asked.on('error', reject);
      asked.end();
    });
  const directory = `https://127.0.0.1:${port}/dir`;
  await waitUntil(
    'Pebble',
    () =>
      get(directory).then(
        () => true,
        () => false,
      ),
    30_000,
  );
  return {
    directory,
    rootsFile,
    issuingRoot: () => get(`https://127.0.0.1:${managementPort}/roots/0`),
    async close() {
      child.kill();
      await closed;
      await resolver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
