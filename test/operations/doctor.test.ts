/** `doctor` and `/readyz?verbose`: each kind of harm is found, and says what to do. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test } from 'node:test';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import { instanceDkimKey } from '#core/mailboxes/domain-records.ts';
import { readSettings, type Settings } from '#core/platform/settings/settings.ts';
import { type DiagnosisOptions, diagnose, logStartFindings, openDiagnosis } from '#core/process/diagnosis/diagnose.ts';
import { instanceRecords, stsProblem } from '#core/process/diagnosis/dns-findings.ts';
import { type Finding, needsAttention } from '#core/process/diagnosis/finding.ts';
import { webClockFinding } from '#core/process/diagnosis/host-findings.ts';
import { settingsFindings } from '#core/process/diagnosis/settings-findings.ts';
import { openMetrics } from '#core/process/expose-metrics.ts';
import { startHealthServer } from '#core/process/health-server.ts';
import { DEVELOPMENT_ROOT_NAME } from '#core/process/start-checks.ts';
import { answerProbes, outsideFindings } from '#operations/outside.ts';
import { type TestDns, testDns } from '#test/support/dns-server.ts';
import { type MailWorld, openMailWorld } from '#test/support/mail-world.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { testLog, testTemporalAddress } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';

const DOMAIN = 'agents.example';
const HOST = 'mail.agents.example';
const ADDRESS = '203.0.113.25';
const REVERSE = '25.113.0.203.in-addr.arpa';
const DAY_MS = 86_400_000;
const LISTENERS = ['SMTP', 'SUBMISSIONS', 'SUBMISSION', 'IMAPS', 'IMAP', 'POP3S', 'POP3'];

const ofCheck = (findings: readonly Finding[], check: Finding['check']) =>
  findings.filter((each) => each.check === check);
/** What somebody must look at, of one check. */
const faults = (findings: readonly Finding[], check: Finding['check']) =>
  ofCheck(findings, check).filter(needsAttention);

describe('doctor', () => {
  let dns: TestDns;
  let world: MailWorld;
  let folder: string;
  let ports: Record<string, string>;
  let settings: Settings;
  let dnsOfService: TestDns['records'];

  before(async () => {
    dns = await testDns();
    folder = mkdtempSync(path.join(tmpdir(), 'doctor-'));
    const root = makeCertificate({ commonName: 'A root', validDays: 400, isCa: true });
    const issuer = { commonName: 'A root', key: root.key };
    const host = makeCertificate({ commonName: HOST, validDays: 90, dnsNames: [HOST], issuer });
    writeFileSync(path.join(folder, 'host.pem'), host.certPem);
    writeFileSync(path.join(folder, 'host.key'), host.keyPem);
    ports = {};
    for (const name of LISTENERS) ports[`${name}_PORT`] = String(await testPort());
    world = await openMailWorld({
      settings: {
        ...ports,
        MODE: 'production',
        WEBHOOK_ALLOW_DESTINATIONS: '',
        WEBHOOK_EXTRA_CA: '',
        MAIL_DOMAIN: DOMAIN,
        MAIL_HOSTNAME: HOST,
        OUTBOUND_TRANSPORT: 'mx',
        DNS_SERVERS: dns.address,
        TLS_CERT: path.join(folder, 'host.pem'),
        TLS_KEY: path.join(folder, 'host.key'),
      },
    });
    settings = world.services.settings;
    const { selector, publicKey } = await instanceDkimKey(world.services);
    dnsOfService = [
      ...instanceRecords(settings, { selector, publicKey }).map(({ type, name, value }) => ({ type, name, value })),
      { type: 'A', name: HOST, value: ADDRESS },
      { type: 'PTR', name: REVERSE, value: HOST },
    ];
  });
  after(async () => {
    await world.close();
    await dns.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    dns.records = dnsOfService;
    dns.silent = false;
  });

  /** As the command does, with other settings. */
  const examine = (changed: Partial<Settings> = {}, options: DiagnosisOptions = {}) =>
    diagnose({ ...world.services, settings: { ...settings, ...changed } }, options);
  const inDns = async (records: TestDns['records']) => {
    dns.records = records;
    return faults(await examine(), 'dns');
  };
  const without = (type: string, name: string) =>
    dnsOfService.filter((record) => record.type !== type || record.name !== name);

  test('finds nothing in DNS, certificate and listeners of a service that is right', async () => {
    const findings = await examine();
    for (const check of ['dns', 'certificate', 'listeners', 'clock', 'secrets', 'backlog'] as const) {
      assert.deepEqual(faults(findings, check), [], check);
      assert.ok(
        ofCheck(findings, check).some(({ level }) => level === 'ok'),
        check,
      );
    }
    // The one Temporal worker is missing, and said so.
    assert.deepEqual(
      faults(findings, 'temporal').map(({ level, what }) => [level, /No worker asks/.test(what)]),
      [['warning', true]],
    );
  });

  test('names each record that DNS lacks or has wrong, with the line to add', async () => {
    const [mx, ...others] = await inDns(without('MX', DOMAIN));
    assert.deepEqual([mx?.level, others], ['error', []]);
    assert.equal(mx?.todo, `Add this record: ${DOMAIN}. 3600 IN MX 10 ${HOST}.`);
    const [spf] = await inDns([...without('TXT', DOMAIN), { type: 'TXT', name: DOMAIN, value: 'v=spf1 -all' }]);
    assert.deepEqual([spf?.level, spf?.todo.includes(`a:${HOST}`)], ['warning', true]);
    const [dmarc] = await inDns(without('TXT', `_dmarc.${DOMAIN}`));
    assert.match(dmarc?.todo ?? '', /^Add this record: _dmarc\.agents\.example\. 3600 IN TXT "v=DMARC1/);
    const dkim = dnsOfService.find(({ name }) => name.includes('_domainkey'));
    const changed = { type: 'TXT', name: dkim?.name ?? '', value: 'v=DKIM1; k=rsa; p=AAAA' } as const;
    const [wrongKey] = await inDns([...dnsOfService.filter((each) => each !== dkim), changed]);
    assert.match(wrongKey?.what ?? '', /^DKIM: .* is another one: .*p=AAAA/);
    const [srv] = await inDns(without('SRV', `_imaps._tcp.${DOMAIN}`));
    assert.match(srv?.what ?? '', /^IMAPS: /);
  });

  test('wants an address for the host, and that name for the address if mail leaves directly', async () => {
    const [noAddress] = await inDns(without('A', HOST));
    assert.deepEqual(
      [noAddress?.level, noAddress?.what],
      ['error', `${HOST} has no address: other hosts cannot find this one.`],
    );
    const [noName] = await inDns(without('PTR', REVERSE));
    assert.match(noName?.what ?? '', /^PTR: 203\.0\.113\.25 has no name/);
    dns.records = [...without('PTR', REVERSE), { type: 'PTR', name: REVERSE, value: 'host25.provider.example' }];
    assert.match(
      faults(await examine(), 'dns')[0]?.what ?? '',
      /is host25\.provider\.example, not mail\.agents\.example/,
    );
    const relay = { OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: 'smtp://relay.example' } as const;
    assert.deepEqual(faults(await examine(relay), 'dns'), [], 'a relay has a name of its own');
  });

  test('does not take a name server that is away for a missing record', async () => {
    dns.silent = true;
    const findings = ofCheck(await examine(), 'dns');
    assert.deepEqual(new Set(findings.map(({ level }) => level)), new Set(['note']));
  });

  test('finds an MTA-STS policy that cannot be fetched, or does not allow the host', async () => {
    const record = { type: 'TXT', name: `_mta-sts.${DOMAIN}`, value: 'v=STSv1; id=1;' } as const;
    const [noHost] = await inDns([...dnsOfService, record]);
    assert.match(noHost?.what ?? '', /mta-sts\.agents\.example has no address/);
    const policy = (mx: string, mode = 'enforce') =>
      `version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 604800\r\n`;
    assert.equal(stsProblem(policy(HOST), HOST), undefined);
    assert.equal(stsProblem(policy(`*.${DOMAIN}`), HOST), undefined);
    assert.equal(stsProblem(policy('other.example', 'none'), HOST), undefined);
    assert.match(stsProblem(policy('other.example'), HOST) ?? '', /hosts do not deliver here/);
    assert.match(stsProblem(policy(HOST, 'on'), HOST) ?? '', /no valid mode/);
    assert.match(stsProblem('<html>', HOST) ?? '', /does not begin with version/);
  });

  test('finds a certificate that ends soon, of another name, of nobody, or with another key', async () => {
    const issuer = {
      commonName: 'A root',
      key: makeCertificate({ commonName: 'A root', validDays: 9, isCa: true }).key,
    };
    const of = async (name: string, certificate: { certPem: string; keyPem: string }) => {
      const files = { TLS_CERT: path.join(folder, `${name}.pem`), TLS_KEY: path.join(folder, `${name}.key`) };
      writeFileSync(files.TLS_CERT, certificate.certPem);
      writeFileSync(files.TLS_KEY, certificate.keyPem);
      const findings = await examine(files);
      return { files, found: faults(findings, 'certificate'), notes: ofCheck(findings, 'certificate'), findings };
    };
    const soon = await of('soon', makeCertificate({ commonName: HOST, validDays: 8, dnsNames: [HOST], issuer }));
    assert.match(soon.found[0]?.what ?? '', /\(7 days\)\. .* expires within 14 days/);
    assert.match(
      faults(soon.findings, 'listeners')[0]?.what ?? '',
      /another certificate than that of TLS_CERT/,
      'the listeners have loaded the first one',
    );
    const due = await of('due', makeCertificate({ commonName: HOST, validDays: 25, dnsNames: [HOST], issuer }));
    assert.deepEqual([due.found, due.notes.some(({ level }) => level === 'note')], [[], true]);
    const other = await of(
      'other',
      makeCertificate({ commonName: 'x', validDays: 90, dnsNames: ['x.example'], issuer }),
    );
    assert.match(other.found[0]?.what ?? '', /is not for MAIL_HOSTNAME/);
    const development = await of(
      'development',
      makeCertificate({
        commonName: HOST,
        validDays: 90,
        dnsNames: [HOST],
        issuer: { ...issuer, commonName: DEVELOPMENT_ROOT_NAME },
      }),
    );
    assert.match(development.found[0]?.what ?? '', /is a development certificate/);
    writeFileSync(due.files.TLS_KEY, makeCertificate({ commonName: 'x', validDays: 9 }).keyPem);
    assert.match(faults(await examine(due.files), 'certificate')[0]?.what ?? '', /is the key of another certificate/);
    const gone = await examine({ TLS_CERT: path.join(folder, 'none.pem') });
    assert.equal(faults(gone, 'certificate')[0]?.level, 'error');
  });

  test('finds a listener that is away or another program, and a service that does not run', async () => {
    const free = await testPort();
    const [away] = faults(await examine({ POP3_PORT: free }), 'listeners');
    assert.match(away?.what ?? '', /^POP3 on 127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/);
    const [foreign] = faults(await examine({ IMAP_PORT: settings.SMTP_PORT }), 'listeners');
    assert.match(foreign?.what ?? '', /^IMAP on .* is another program: it says "220 /);
    const [stopped] = faults(await examine({}, { host: '127.0.0.2' }), 'listeners');
    assert.deepEqual(
      [stopped?.level, /No mail listener answers at 127\.0\.0\.2/.test(stopped?.what ?? '')],
      ['warning', true],
    );
  });

  test('finds a clock that differs', async () => {
    const ahead = await diagnose({ ...world.services, now: () => Date.now() + 10_000 });
    assert.match(faults(ahead, 'clock')[0]?.what ?? '', /ahead of that of PostgreSQL/);
    const web = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + 2 * DAY_MS).toUTCString()).end();
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const address = web.address();
    assert.ok(typeof address === 'object' && address !== null);
    const finding = await webClockFinding(`http://127.0.0.1:${address.port}/`, Date.now);
    web.close();
    web.closeAllConnections();
    assert.deepEqual([finding.level, /behind that of 127\.0\.0\.1/.test(finding.what)], ['error', true]);
  });

  test('finds a Temporal without the namespace, and one that is away', async () => {
    const [missing] = faults(await examine({ TEMPORAL_NAMESPACE: 'not-there' }), 'temporal');
    assert.match(missing?.what ?? '', /has no namespace not-there/);
    const [away] = faults(await examine({ TEMPORAL_ADDRESS: `127.0.0.1:${await testPort()}` }), 'temporal');
    assert.match(away?.what ?? '', /does not answer/);
    assert.deepEqual(
      [
        settings.TEMPORAL_ADDRESS,
        ofCheck(await examine(), 'temporal').some(({ what }) => what.includes('has the search attributes')),
      ],
      [testTemporalAddress(), true],
    );
  });

  test('finds a database without its migrations, and keys of another installation', async () => {
    await world.services.db.query(
      `update migrations set name = name || '_' where id = (select max(id) from migrations)`,
    );
    const [pending] = faults(await examine(), 'postgresql').filter(({ level }) => level === 'error');
    await world.services.db.query(
      `update migrations set name = rtrim(name, '_') where id = (select max(id) from migrations)`,
    );
    assert.deepEqual(
      [pending?.what, pending?.todo],
      ['1 migrations of this version are missing.', 'Run `agent-mailbox-admin migrate`.'],
    );
    const { code, stdout } = await runDoctor({ SECRETS_KEYS: `other:${Buffer.alloc(32, 7).toString('base64')}` });
    assert.equal(code, 3);
    assert.match(stdout, /✖ No secret in the database was sealed with a key of SECRETS_KEYS/);
  });

  test('counts what waits, and warns of what nobody takes', async () => {
    const { db } = world.services;
    const [endpoint, ...ids] = ['whe_doctor', 'dlv_1', 'dlv_2'];
    await db.query(
      `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type, created_at)
       select id, 'evt', $2, $3, 'email_received', now() - interval '20 minutes' from unnest($1::text[]) id`,
      [ids, endpoint, world.organizationId],
    );
    const [overdue] = faults(await examine(), 'backlog');
    assert.equal(overdue?.what, '2 webhooks wait, the oldest for 20 min; 2 are overdue, the oldest by 20 min.');
    await db.query(`update deliveries set next_attempt_at = now() + interval '10 minutes' where endpoint_id = $1`, [
      endpoint,
    ]);
    const findings = await examine();
    await db.query('delete from deliveries where endpoint_id = $1', [endpoint]);
    assert.deepEqual(faults(findings, 'backlog'), []);
    assert.ok(ofCheck(findings, 'backlog').some(({ what }) => what === '2 webhooks wait, the oldest for 20 min.'));
  });

  test('knows which settings serve nobody outside', () => {
    const production = { MODE: 'production', MAIL_DOMAIN: DOMAIN, MAIL_HOSTNAME: HOST, MAIL_HOST: '0.0.0.0' };
    const right = {
      ...production,
      API_PUBLIC_URL: `https://${HOST}`,
      OPERATOR_KEY: 'amo_x',
      OUTBOUND_TRANSPORT: 'mx',
    };
    const findings = (given: Record<string, string>) => readFaults(given).map(({ level, what }) => `${level}: ${what}`);
    const readFaults = (given: Record<string, string>) => settingsOf(given).filter(needsAttention);
    assert.deepEqual(findings(right), []);
    assert.equal(findings(production).length, 3);
    assert.match(findings({ ...right, MAIL_HOST: '127.0.0.1' })[0] ?? '', /^error: The mail listeners are bound/);
    assert.match(findings({ ...right, MAIL_DOMAIN: 'agents.localhost' })[0] ?? '', /^error: MAIL_DOMAIN/);
    assert.match(findings({ ...right, API_PUBLIC_URL: 'http://x.example' })[0] ?? '', /^warning: .*without TLS/);
    assert.match(findings({ MAIL_DOMAIN: DOMAIN })[0] ?? '', /^warning: MODE is development/);
    assert.deepEqual(findings({}), []);
  });

  test('asks a helper outside, which looks at its caller alone', async () => {
    const port = Number(ports['SMTP_PORT']);
    const closed = await testPort();
    const known = new Map([
      [port, { tls: false, greets: true }],
      [Number(ports['IMAPS_PORT']), { tls: true, greets: true }],
      [closed, { tls: false, greets: true }],
    ]);
    const helper = await answerProbes('127.0.0.1', 0, known);
    try {
      const url = `http://127.0.0.1:${helper.port}`;
      dns.records = [...without('A', HOST), { type: 'A', name: HOST, value: '127.0.0.1' }];
      const findings = await outsideFindings(url, settings, [...known.keys()]);
      assert.deepEqual(
        findings.map(({ level }) => level),
        ['ok', 'ok', 'ok', 'error'],
        JSON.stringify(findings),
      );
      dns.records = dnsOfService;
      const [elsewhere] = await outsideFindings(url, settings, [port]);
      assert.match(
        elsewhere?.what ?? '',
        /has the address 127\.0\.0\.1, but mail\.agents\.example has 203\.0\.113\.25/,
      );
      // Neither another address nor a port that is not among the known ones.
      const refused = await fetch(`${url}/?ports=${await testPort()}&address=198.51.100.1`);
      assert.equal(refused.status, 400);
      await refused.text();
      // What is no URL at all: `fetch` would not send it.
      const socket = net.connect(helper.port, '127.0.0.1');
      socket.end('GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.match(await text(socket), /^HTTP\/1\.1 400 /);
    } finally {
      helper.server.close();
      helper.server.closeAllConnections();
    }
    const [gone] = await outsideFindings(`http://127.0.0.1:${helper.port}`, settings);
    assert.equal(gone?.level, 'note');
  });

  /** The command, as an operator calls it. */
  const runDoctor = (more: Record<string, string> = {}, ...args: string[]) =>
    runAdmin(['doctor', ...args], {
      environment: {
        ...ports,
        MODE: 'production',
        DATABASE_URL: settings.DATABASE_URL ?? '',
        DATA_DIR: settings.DATA_DIR,
        TEMPORAL_ADDRESS: testTemporalAddress(),
        SECRETS_KEYS: `other:${Buffer.alloc(32, 7).toString('base64')}`,
        CREDENTIAL_PEPPER: Buffer.from(world.services.pepper).toString('base64'),
        MAIL_DOMAIN: DOMAIN,
        MAIL_HOSTNAME: HOST,
        OUTBOUND_TRANSPORT: 'mx',
        DNS_SERVERS: dns.address,
        ...more,
      },
    });

  test('says all as text, and the same as JSON', async () => {
    dns.records = without('MX', DOMAIN);
    const answer = await runDoctor({}, '--json');
    assert.equal(answer.code, 3, answer.stderr);
    const { findings } = JSON.parse(answer.stdout) as { findings: Finding[] };
    assert.match(faults(findings, 'dns')[0]?.todo ?? '', /IN MX 10/);
    const wrong = await runDoctor({ TEMPORAL_PORT: 'x', DATABASE_URL: 'mysql://x' });
    assert.equal(wrong.code, 3);
    assert.match(wrong.stdout, /✖ DATABASE_URL .*\n.*✖ TEMPORAL_PORT is "x"/);
    const away = await runDoctor({ DATABASE_URL: `postgres://127.0.0.1:${await testPort()}/x` });
    assert.match(
      away.stdout,
      /^postgresql\n {2}✖ DATABASE_URL: .*ECONNREFUSED[^]*^dns\n {2}✖ MX/m,
      'the rest is checked',
    );
  });

  test('/readyz?verbose has the findings on the port of METRICS_PORT', async () => {
    dns.records = without('MX', DOMAIN);
    const readiness = async () =>
      ({ status: 'ready', process: 'mail', checks: {}, problems: [] }) as unknown as Awaited<
        ReturnType<Parameters<typeof startHealthServer>[2]>
      >;
    const health = await startHealthServer(
      { ...settings, METRICS_PORT: await testPort() },
      testLog(),
      readiness,
      openDiagnosis(world.services, 'mail'),
      openMetrics(world.services, 'mail'),
    );
    try {
      const verbose = (await (await fetch(`${health.url}/readyz?verbose`)).json()) as { findings: Finding[] };
      assert.match(faults(verbose.findings, 'dns')[0]?.what ?? '', /^MX: /);
      assert.ok(ofCheck(verbose.findings, 'listeners').some(({ level }) => level === 'ok'));
      assert.ok(!('findings' in ((await (await fetch(`${health.url}/readyz`)).json()) as object)));
    } finally {
      await health.close();
    }
  });

  test('a process logs what is cheap to find before it serves', async () => {
    const lines: unknown[][] = [];
    const log = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Parameters<typeof logStartFindings>[1];
    await logStartFindings({ ...world.services, settings: { ...settings, OUTBOUND_TRANSPORT: 'capture' } }, log);
    assert.ok(lines.some(([facts, text]) => /capture: no mail leaves/.test(String(text)) && typeof facts === 'object'));
  });
});

function settingsOf(given: Readonly<Record<string, string>>): Finding[] {
  return settingsFindings(readSettings(given));
}
