/** Certificates by ACME: ordered from Pebble, renewed, taken without a restart, and what happens when orders fail. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import tls from 'node:tls';
import {
  certificateNames,
  listCertificates,
  orderDueCertificates,
  readCertificates,
  renewalOf,
} from '#core/certificates/acme-orders.ts';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import type { Services } from '#core/platform/process/services.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { startChallengeServer } from '#core/process/challenge-server.ts';
import { acmeFindings } from '#core/process/diagnosis/acme-findings.ts';
import { openMetrics } from '#core/process/expose-metrics.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Pebble, startPebble } from '#test/support/pebble.ts';
import { findProgram, needs } from '#test/support/programs.ts';
import { testSettings } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const HOST = 'mail.agents.example';
const API = 'api.agents.example';
const WRONG = 'elsewhere.agents.example';
const DAY_MS = 86_400_000;
/** On a busy machine too. */
const PATIENCE_MS = 60_000;

interface Listened {
  readonly authorized: boolean;
  readonly certificate: X509Certificate | undefined;
}

/** The certificate of a server with TLS. */
function certificateAt(port: number, servername: string, ca: string): Promise<Listened> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername, ca, rejectUnauthorized: false }, () => {
      resolve({ authorized: socket.authorized, certificate: socket.getPeerX509Certificate() });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('certificates by ACME', needs('pebble'), () => {
  let dns: TestDns;
  let pebble: Pebble;
  let world: ApiWorld;
  let services: Services;
  let folder: string;
  let tlsPort: number;
  let httpPort: number;
  let challenges: Awaited<ReturnType<typeof startChallengeServer>>;
  let mail: MailListeners;
  let nowMs: number;

  before(async () => {
    if (findProgram('pebble') === undefined) return;
    dns = await testDns();
    httpPort = await testPort();
    tlsPort = await testPort();
    pebble = await startPebble(httpPort, dns.address);
    folder = mkdtempSync(path.join(tmpdir(), 'certificates-'));
    world = await apiWorld({
      DATA_DIR: folder,
      MAIL_HOSTNAME: HOST,
      API_PUBLIC_URL: `https://${API}`,
      API_TLS_PORT: String(tlsPort),
      ACME_DIRECTORY: pebble.directory,
      ACME_ROOTS: pebble.rootsFile,
      ACME_EMAIL: 'operator@agents.example',
      ACME_NAMES: WRONG,
      ACME_HTTP_PORT: String(httpPort),
    });
    services = { ...world.services, now: () => nowMs };
    challenges = await startChallengeServer(services);
    mail = await startMail(services);
  });
  after(async () => {
    await mail?.close();
    await challenges?.close();
    await world?.close();
    await pebble?.close();
    await dns?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    nowMs = Date.now();
    // A name that leads nowhere here: nobody answers at that address.
    dns.records = [HOST, API].map((name) => ({ type: 'A', name, value: '127.0.0.1' }) as const);
    await services.db.query('truncate acme_certificate, acme_challenge');
  });

  const orderDue = () => orderDueCertificates(services, new AbortController().signal);
  const certificate = async (name: string) => (await listCertificates(services.db)).find((each) => each.name === name);

  test('each name gets a certificate; one that fails holds up no other, and is reported with its reason', async () => {
    assert.deepEqual(certificateNames(services.settings), [HOST, API, WRONG]);
    assert.deepEqual((await orderDue()).toSorted(), [API, HOST]);
    const root = await pebble.issuingRoot();
    for (const { name, chain } of await readCertificates(services, [HOST, API])) {
      const [leaf] = chain.split(/(?<=-----END CERTIFICATE-----\n)/);
      assert.equal(new X509Certificate(leaf ?? '').checkHost(name), name);
    }
    assert.ok(root.includes('BEGIN CERTIFICATE'));
    const failed = await certificate(WRONG);
    assert.deepEqual([failed?.failures, failed?.expiresAt], [1, null]);
    assert.match(failed?.failure ?? '', /elsewhere\.agents\.example|lookup|no such host|NXDOMAIN|resolv/i);
    // Nothing of open orders is left.
    assert.deepEqual(await services.db.query('select token from acme_challenge'), []);
    // Not again at once, and then after ever longer waits.
    assert.deepEqual(await orderDue(), []);
    assert.equal((await certificate(WRONG))?.failures, 1);
    const first = (failed?.orderAt.getTime() ?? 0) - nowMs;
    assert.ok(first >= 15 * 60_000 && first < 17 * 60_000, String(first));
    nowMs += first + 1;
    await orderDue();
    const second = ((await certificate(WRONG))?.orderAt.getTime() ?? 0) - nowMs;
    assert.ok(second >= 30 * 60_000, String(second));
    const findings = await acmeFindings(services.db, services.settings, nowMs);
    assert.deepEqual(
      findings.map(({ level }) => level),
      ['ok', 'ok', 'error'],
    );
    assert.match(findings[2]?.what ?? '', /^elsewhere\.agents\.example has no certificate yet, and 2 orders failed/);
    const { text } = await openMetrics(services, 'api')();
    assert.match(text, /^agent_mailbox_acme_failing_names 1$/m);
    assert.match(text, /^agent_mailbox_acme_orders_total\{outcome="issued"\} [1-9]/m);
  });

  test('listeners that run take a new certificate without a restart: mail, and the API by name', async () => {
    const provisional = await certificateAt(mail.imap.port, HOST, await pebble.issuingRoot());
    await orderDue();
    const root = await pebble.issuingRoot();
    const issued = async (port: number, name: string) => {
      const { authorized, certificate: served } = await certificateAt(port, name, root);
      return authorized && served?.checkHost(name) === name ? served : undefined;
    };
    const atMail = await waitUntil('the certificate at IMAP', () => issued(mail.imap.port, HOST), PATIENCE_MS);
    assert.notEqual(atMail.fingerprint256, provisional.certificate?.fingerprint256);
    const atApi = await waitUntil('the certificate of the API', () => issued(tlsPort, API), PATIENCE_MS);
    assert.equal(await issued(tlsPort, HOST).then((found) => found?.fingerprint256 === atApi.fingerprint256), false);
    assert.equal((await certificateAt(tlsPort, 'unknown.example', root)).authorized, false);
    // Renewed: another one, at the same listeners.
    nowMs = ((await certificate(HOST))?.orderAt.getTime() ?? 0) + 1;
    assert.ok((await orderDue()).includes(HOST));
    await waitUntil(
      'the renewed certificate at IMAP',
      async () => {
        const found = await issued(mail.imap.port, HOST);
        return found !== undefined && found.fingerprint256 !== atMail.fingerprint256;
      },
      PATIENCE_MS,
    );
  });

  test('two processes order a certificate once, and one that died is followed by another', async () => {
    const issued = await Promise.all([orderDue(), orderDue(), orderDue()]);
    assert.deepEqual(issued.flat().toSorted(), [API, HOST]);
    await services.db.query(`update acme_certificate set order_at = $2, leased_until = $3 where name = $1`, [
      HOST,
      new Date(nowMs - 1),
      new Date(nowMs + 1_000),
    ]);
    assert.deepEqual(await orderDue(), []);
    nowMs += 1_001;
    assert.deepEqual(await orderDue(), [HOST]);
  });

  test('an order that is ended with its process is no failure', async () => {
    const stopping = new AbortController();
    // In the middle of it: the authority asks for the first name.
    dns.treat = () => {
      stopping.abort();
      return 'lost';
    };
    try {
      assert.deepEqual(await orderDueCertificates(services, stopping.signal), []);
    } finally {
      dns.treat = () => 'answered';
    }
    assert.equal((await certificate(API))?.failures, 0);
    assert.deepEqual((await orderDue()).toSorted(), [API, HOST]);
  });

  test('an authority that does not answer delays nothing but the order', async () => {
    const away = `https://127.0.0.1:${await testPort()}/dir`;
    const without = { ...services, settings: { ...services.settings, ACME_DIRECTORY: away } };
    assert.deepEqual(await orderDueCertificates(without, new AbortController().signal), []);
    assert.match((await certificate(HOST))?.failure ?? '', /no answer: .*ECONNREFUSED/);
  });

  test('port 80 answers challenges and leads to https, and to no name of others', async () => {
    await services.db.query(
      `insert into acme_challenge values ('a-token-of-a-challenge', 'its answer', now() + interval '1 minute'),
                                         ('a-token-that-is-over', 'x', now() - interval '1 minute')`,
    );
    const ask = (host: string, url: string, method = 'GET') =>
      new Promise<readonly [number | undefined, string | undefined, string]>((resolve, reject) => {
        const asked = request(
          { host: '127.0.0.1', port: httpPort, path: url, method, headers: { host } },
          (response) => {
            let body = '';
            response.setEncoding('utf8').on('data', (part: string) => {
              body += part;
            });
            response.on('end', () => resolve([response.statusCode, response.headers.location, body]));
          },
        );
        asked.on('error', reject);
        asked.end();
      });
    // Another one on the same port does not listen, and stops nothing.
    const second = await startChallengeServer(services);
    assert.equal(second.port, undefined);
    await second.close();
    const well = '/.well-known/acme-challenge/';
    assert.deepEqual(await ask('anything', `${well}a-token-of-a-challenge`), [200, undefined, 'its answer']);
    assert.deepEqual(await ask(HOST, `${well}a-token-that-is-over`), [404, undefined, '']);
    assert.deepEqual(await ask(HOST, `${well}another-unknown-token`), [404, undefined, '']);
    assert.deepEqual(await ask(`${API}:80`, '/approvals?a=b'), [308, `https://${API}/approvals?a=b`, '']);
    assert.deepEqual(await ask(API, '//evil.example/x'), [308, `https://${API}/evil.example/x`, '']);
    assert.deepEqual(await ask('evil.example', '/'), [404, undefined, '']);
    assert.deepEqual(await ask(API, '/api/organization', 'POST'), [404, undefined, '']);
  });
});

test('a certificate is renewed when a third of its life is left, not at the same moment everywhere', () => {
  const { certPem } = makeCertificate({ commonName: 'x', validDays: 90, dnsNames: ['x.example'] });
  const at = Array.from({ length: 20 }, () => renewalOf(certPem));
  for (const { expiresAt, orderAt } of at) {
    const beforeMs = expiresAt.getTime() - orderAt.getTime();
    assert.ok(beforeMs >= 30 * DAY_MS && beforeMs < 34 * DAY_MS, String(beforeMs / DAY_MS));
  }
  assert.ok(new Set(at.map(({ orderAt }) => orderAt.getTime())).size > 10);
});

test('TLS of the API needs certificates, and ports of listeners differ', () => {
  assert.throws(() => testSettings({ API_TLS_PORT: '443' }), SettingsError);
  const acme = { ACME_DIRECTORY: 'https://ca.example/directory' };
  assert.throws(() => testSettings({ ...acme, API_TLS_PORT: '80' }), /API_TLS_PORT and ACME_HTTP_PORT are all 80/);
  assert.deepEqual(certificateNames(testSettings()), []);
});
