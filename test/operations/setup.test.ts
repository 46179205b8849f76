/** `setup` and `dns-records`: the settings file, its secrets, and that the programs of the service read it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readSettings } from '#core/platform/settings/settings.ts';
import { readSettingsFile, settingsLines, withSettingsFile } from '#core/platform/settings/settings-file.ts';
import { domainName, relayUrl } from '#operations/installation-settings.ts';
import { secretsFile } from '#operations/secrets-file.ts';
import { type TestDns, testDns } from '#test/support/dns-server.ts';
import { startPart } from '#test/support/part-process.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { createEmptyDatabase, type TestDatabase, testTemporalAddress } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const DOMAIN = 'agents.example.org';
const SECRETS = ['SECRETS_KEYS', 'CREDENTIAL_PEPPER', 'OPERATOR_KEY'] as const;

describe('setup', () => {
  let dns: TestDns;
  let folder: string;
  let dataDir: string;
  let file: string;
  before(async () => {
    dns = await testDns();
    folder = mkdtempSync(path.join(tmpdir(), 'setup-'));
  });
  after(async () => {
    await dns.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(folder, 'data-'));
    file = path.join(dataDir, 'settings.env');
  });

  const setup = (args: readonly string[], more: Record<string, string> = {}, input?: string) =>
    runAdmin(['setup', ...args], {
      environment: { DATA_DIR: dataDir, DNS_SERVERS: dns.address, ...more },
      ...(input === undefined ? {} : { input }),
    });
  const embedded = ['--domain', DOMAIN, '--send', 'direct', '--servers', 'embedded'];

  test('lets certificates come by themselves, and keeps that', async () => {
    const directory = 'https://ca.example/directory';
    await setup([...embedded, '--acme', directory]);
    const settings = readSettings(readSettingsFile(file));
    assert.deepEqual(
      [settings.ACME_DIRECTORY, settings.ACME_EMAIL, settings.API_TLS_PORT, settings.ACME_HTTP_PORT],
      [directory, `owner@${DOMAIN}`, 443, 80],
    );
    await setup(['--owner', 'me@example.org', '--replace']);
    assert.equal(readSettingsFile(file)['ACME_DIRECTORY'], directory);
  });

  test('writes settings with new secrets for its owner alone, prints the DNS records, and ends with the doctor', async () => {
    const { code, stdout, stderr } = await setup(embedded);
    assert.equal(code, 3, `nothing runs yet\n${stderr}`);
    const values = readSettingsFile(file);
    const settings = readSettings(values);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(
      [settings.MODE, settings.MAIL_DOMAIN, settings.MAIL_HOSTNAME, settings.OUTBOUND_TRANSPORT, settings.SMTP_PORT],
      ['production', DOMAIN, `mail.${DOMAIN}`, 'mx', 25],
    );
    assert.deepEqual(
      SECRETS.map((name) => settings[name] !== undefined),
      [true, true, true],
    );
    assert.match(stdout, /^agents\.example\.org\. 3600 IN MX 10 mail\.agents\.example\.org\.$/m);
    assert.match(stdout, /^_dmarc\.agents\.example\.org\. 3600 IN TXT "v=DMARC1/m);
    assert.match(stdout, /^✖ mx +MX +agents\.example\.org +missing$/m);
    assert.match(stdout, /^Doctor\n\nsettings\n {2}✔/m);
    for (const name of SECRETS) assert.ok(!`${stdout}${stderr}`.includes(values[name] ?? '-'), name);
  });

  test('run again changes nothing, and takes its answers from the file', async () => {
    await setup(embedded);
    const before = readFileSync(file, 'utf8');
    const [again, bare] = [await setup(embedded), await setup([])];
    assert.deepEqual([again.code, bare.code, readFileSync(file, 'utf8')], [3, 3, before]);
    assert.match(bare.stderr, /settings\.env is as it should be/);
    assert.match(bare.stdout, /IN MX 10 mail\.agents\.example\.org/);
  });

  test('never overwrites a setting without --replace, and keeps the secrets and what it does not know with it', async () => {
    await setup(embedded);
    writeFileSync(file, `${readFileSync(file, 'utf8')}LOG_LEVEL=warn\n`);
    const before = readSettingsFile(file);
    const other = [...embedded.slice(0, -2), '--servers', 'embedded', '--host', 'mx1.example.org', '--ports', 'high'];
    const refused = await setup(other);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /MAIL_HOSTNAME \(mail\.agents\.example\.org, not mx1\.example\.org\).*--replace/);
    assert.deepEqual(readSettingsFile(file), before);
    const replaced = await setup([...other, '--replace']);
    assert.equal(replaced.code, 3, replaced.stderr);
    const now = readSettingsFile(file);
    assert.deepEqual(
      [now['MAIL_HOSTNAME'], now['LOG_LEVEL'], now['SMTP_PORT'], now['MAIL_PUBLIC_IMAP_PORT']],
      ['mx1.example.org', 'warn', undefined, '993'],
    );
    for (const name of SECRETS) assert.equal(now[name], before[name], name);
    // A setting that would be gone is a changed one.
    writeFileSync(file, `${readFileSync(file, 'utf8')}DATABASE_URL=postgres://elsewhere/db\n`);
    const gone = await setup(other);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /another DATABASE_URL.*--replace/);
  });

  test('keeps certificate and listening address of the file when something else is replaced', async () => {
    await setup([...embedded, '--certificate', 'own/host.pem', '--key', 'own/host.key']);
    writeFileSync(file, readFileSync(file, 'utf8').replace('MAIL_HOST=0.0.0.0', 'MAIL_HOST=127.0.0.1'));
    const { TLS_CERT, TLS_KEY } = readSettingsFile(file);
    const replaced = await setup([...embedded, '--host', 'mx1.example.org', '--replace']);
    assert.equal(replaced.code, 3, replaced.stderr);
    const now = readSettingsFile(file);
    assert.deepEqual(
      [now['MAIL_HOSTNAME'], now['MAIL_HOST'], now['TLS_CERT'], now['TLS_KEY']],
      ['mx1.example.org', '127.0.0.1', TLS_CERT, TLS_KEY],
    );
    assert.match(TLS_CERT ?? '', /own\/host\.pem$/);
  });

  test('takes over the secrets of an earlier npm start', async () => {
    const { secretsKeys, credentialPepper } = secretsFile(path.join(dataDir, 'secrets.json'), 'owner@example.org');
    await setup(embedded);
    const { SECRETS_KEYS, CREDENTIAL_PEPPER } = readSettingsFile(file);
    assert.deepEqual([SECRETS_KEYS, CREDENTIAL_PEPPER], [secretsKeys, credentialPepper]);
  });

  test('says which option is missing where nobody can be asked, and asks where somebody can', async () => {
    const missing = await setup(['--domain', DOMAIN]);
    assert.deepEqual([missing.code, existsSync(file)], [2, false]);
    assert.match(missing.stderr, /--send is missing/);
    const wrong = await setup([...embedded.slice(0, 2), '--send', 'pigeon']);
    assert.equal(wrong.code, 2);
    const password = path.join(folder, 'password');
    writeFileSync(password, `p'a ss$"#@\n`);
    const answers = ['nonsense', DOMAIN, '', 'relay', 'smtp.example.net', '', 'me@example.net', '', '', 'embedded', ''];
    const asked = await setup(['--ask', '--relay-password-file', password], {}, answers.join('\n'));
    assert.equal(asked.code, 3, asked.stderr);
    assert.match(asked.stderr, /Domain of the mailboxes: {3}It takes a domain name, such as agents\.example\.org\.\n/);
    const relay = new URL(readSettings(readSettingsFile(file)).OUTBOUND_RELAY_URL ?? '');
    assert.deepEqual(
      [relay.protocol, decodeURIComponent(relay.username), decodeURIComponent(relay.password), relay.host],
      ['smtp:', 'me@example.net', `p'a ss$"#@`, 'smtp.example.net:587'],
    );
    const ended = await setup(['--ask', '--file', path.join(dataDir, 'other.env')], {}, `${DOMAIN}\n`);
    assert.deepEqual([ended.code, existsSync(path.join(dataDir, 'other.env'))], [2, false]);
  });

  test('writes .env for docker-compose.yml, with the password of its PostgreSQL', async () => {
    const compose = path.join(dataDir, '.env');
    const { code, stdout } = await setup([...embedded.slice(0, 4), '--servers', 'compose', '--file', compose]);
    assert.equal(code, 0);
    const values = readSettingsFile(compose);
    assert.deepEqual(Object.keys(values).toSorted(), [
      ...['API_PUBLIC_URL', 'CREDENTIAL_PEPPER', 'MAIL_DOMAIN', 'MAIL_HOSTNAME', 'OPERATOR_KEY', 'OUTBOUND_TRANSPORT'],
      ...['OWNER_EMAIL', 'POSTGRES_PASSWORD', 'SECRETS_KEYS'],
    ]);
    assert.match(stdout, /docker compose up -d --build/);
    const yaml = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
    for (const name of Object.keys(values))
      assert.ok(yaml.includes(`\${${name}:`), `docker-compose.yml ignores ${name}`);
  });

  describe('with servers of its own', () => {
    let database: TestDatabase;
    before(async () => {
      database = await createEmptyDatabase();
    });
    after(() => database.drop());

    test('migrate, dns-records and the processes read the file', async () => {
      const environment = { AGENT_MAILBOX_ENV: file, DNS_SERVERS: dns.address };
      const own = ['--servers', 'own', '--database-url', database.url, '--temporal-address', testTemporalAddress()];
      const done = await setup(['--domain', DOMAIN, '--send', 'direct', '--ports', 'high', ...own]);
      assert.equal(done.code, 3, done.stderr);
      assert.match(done.stdout, /migrations of this version are missing/);
      const migrated = await runAdmin(['migrate', '--json'], { environment });
      assert.equal(migrated.code, 0, migrated.stderr);
      const { organization } = JSON.parse(migrated.stdout) as { organization: { email: string; state: string } };
      assert.deepEqual([organization.state, organization.email], ['made', `owner@${DOMAIN}`]);
      const records = await runAdmin(['dns-records', '--json'], { environment });
      const dkim = (
        JSON.parse(records.stdout) as { records: { purpose: string; value: string; name: string }[] }
      ).records.find(({ purpose }) => purpose === 'dkim');
      assert.match(dkim?.value ?? '', /^v=DKIM1; k=rsa; p=MII/);
      dns.records = [{ type: 'TXT', name: dkim?.name ?? '', value: dkim?.value ?? '' }];
      const again = await setup([]);
      assert.match(again.stdout, /^✔ dkim /m);
      const ports = Object.fromEntries(
        ['SMTP', 'SUBMISSIONS', 'SUBMISSION', 'IMAPS', 'IMAP', 'POP3S', 'POP3'].map((name) => [`${name}_PORT`, '0']),
      );
      const part = startPart('mail', { ...environment, ...ports, METRICS_PORT: String(await testPort()) });
      try {
        await waitUntil('the mail process to be ready', async () => {
          assert.equal(part.process.exitCode, null, part.output());
          return (await part.readiness())?.status === 'ready';
        });
      } finally {
        assert.equal(await part.stop(), 0, part.output());
      }
    });
  });

  test('the file of DATA_DIR is not mixed with another database, and a named file must exist', () => {
    writeFileSync(file, `MAIL_DOMAIN=${DOMAIN}\nDATABASE_URL=postgres://a/b\nNOT_OURS=1\nLOG_LEVEL=\n`);
    const given = { DATA_DIR: dataDir, MAIL_HOSTNAME: 'mx.example.org' };
    assert.deepEqual(withSettingsFile(given), { ...given, MAIL_DOMAIN: DOMAIN, DATABASE_URL: 'postgres://a/b' });
    const elsewhere = { ...given, DATABASE_URL: 'postgres://c/d' };
    assert.deepEqual(withSettingsFile(elsewhere), elsewhere);
    assert.equal(withSettingsFile({ ...elsewhere, AGENT_MAILBOX_ENV: file })['MAIL_DOMAIN'], DOMAIN);
    assert.equal(withSettingsFile({ ...given, MAIL_DOMAIN: 'other.example' })['MAIL_DOMAIN'], 'other.example');
    assert.throws(() => withSettingsFile({ AGENT_MAILBOX_ENV: `${file}.none` }), /cannot be read/);
  });

  test('a value in a settings file is read as it was, or refused', () => {
    const values = {
      A: 'plain',
      B: 'two words # $HOME "x" \\n',
      C: 'k1:a+/=,k2:b',
      D: relayUrl({ host: 'h', port: 465, user: `o'x` }),
    };
    writeFileSync(file, settingsLines(values).join('\n'));
    assert.deepEqual(readSettingsFile(file), values);
    assert.equal(values.D, 'smtps://o%27x@h:465');
    assert.throws(() => settingsLines({ A: `it's` }), /A contains a quote/);
    assert.throws(() => settingsLines({ A: 'x\ny' }), /A contains a quote or a control character/);
    assert.deepEqual([domainName.parse(' Agents.Example. '), domainName.parse('x y')], ['agents.example', undefined]);
  });
});
