/** `prober` beside the processes: every leg works, and each fails, with its reason, when its part is stopped. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type LegResult, Prober, type ProbeTarget } from '#operations/probe/probe-service.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { expectAlerts, NO_SCRAPE, readScrape } from '#test/support/firing-alerts.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { needs } from '#test/support/programs.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { testTls, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 120_000;
const PARTS = ['api', 'worker', 'mail'] as const;
type Part = (typeof PARTS)[number];
const HOST = '127.0.0.1';

/** The legs that failed, by name. */
const failed = (results: readonly LegResult[]): string[] => results.filter(({ ok }) => !ok).map(({ leg }) => leg);
const reasonsOf = (results: readonly LegResult[]): string =>
  results.map(({ leg, reason }) => `${leg}: ${reason}`).join('\n');

describe('the prober', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'prober-'));
  const environments = new Map<Part, Record<string, string>>();
  const parts = new Map<Part, PartProcess>();
  let world: ApiWorld;
  let target: ProbeTarget;
  let apiKey: string;

  const start = async (part: Part) => {
    const started = startPart(part, environments.get(part) ?? {});
    parts.set(part, started);
    const isReady = async () => {
      assert.equal(started.process.exitCode, null, started.output());
      return (await started.readiness())?.status === 'ready';
    };
    await waitUntil(`${part} to be ready`, isReady, PATIENCE_MS);
  };

  before(async () => {
    const common = {
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      TEMPORAL_TASK_QUEUE: `prober-${randomBytes(6).toString('hex')}`,
      DATA_DIR: folder,
    };
    world = await apiWorld(common);
    const ports = { api: await testPort(), smtp: await testPort(), imaps: await testPort() };
    for (const part of PARTS)
      environments.set(
        part,
        testVariables({
          ...common,
          DATABASE_URL: world.services.settings.DATABASE_URL ?? '',
          API_PORT: String(ports.api),
          SMTP_PORT: String(ports.smtp),
          IMAPS_PORT: String(ports.imaps),
          METRICS_PORT: String(await testPort()),
        }),
      );
    await Promise.all(PARTS.map(start));
    const { organization, other } = world;
    await world.call('PATCH', '/api/organization', {
      as: organization.owner.session,
      body: { settings: { consentByApiKey: true } },
    });
    const key = await world.newKey(organization.id, [
      ...(['mailbox:create', 'mailbox:read', 'mailbox:write'] as const),
      ...(['webhook:create', 'webhook:read', 'webhook:manage'] as const),
    ]);
    apiKey = key['x-organization-key'] ?? '';
    target = {
      api: `http://${HOST}:${ports.api}`,
      apiKey,
      smtp: { host: HOST, port: ports.smtp },
      imap: { host: HOST, port: ports.imaps },
      serverName: 'localhost',
      ca: readFileSync(testTls().caFile, 'utf8'),
      from: 'prober@probe.invalid',
      approveTo: other.mailbox.address,
      withinMs: 20_000,
    };
  });
  after(async () => {
    await Promise.all([...parts.values()].map((part) => part.stop()));
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('every leg works, again and again, and nothing is left in the mailbox', async () => {
    const prober = new Prober(target);
    for (let times = 0; times < 2; times += 1) {
      const results = await prober.run(true);
      assert.deepEqual(failed(results), [], reasonsOf(results));
      assert.deepEqual(results.map(({ leg }) => leg).toSorted(), ['approval', 'imap', 'smtp', 'webhook']);
    }
    // A prober that starts again finds its mailbox.
    const again = await new Prober({ ...target, approveTo: undefined }).run(true);
    assert.deepEqual(failed(again), [], reasonsOf(again));
    const own = await world.sql(`select id from mailboxes where name = 'Prober'`);
    assert.equal(own.length, 1);
    const inbox = await world.sql(
      `select count(*)::int as mails from placement join folder on folder.id = placement.folder_id where folder.mailbox_id = $1`,
      [own[0]?.['id']],
    );
    assert.deepEqual(inbox, [{ mails: 0 }]);
  });

  test('as a command it shows each leg, and ends with 3 if one failed', async () => {
    const caFile = path.join(folder, 'ca.pem');
    writeFileSync(caFile, target.ca ?? '');
    const args = [
      ...['prober', '--once', '--json', '--api', target.api, '--server-name', 'localhost', '--ca', caFile],
      ...['--imap', `${HOST}:${target.imap.port}`],
    ];
    const environment = { PROBE_API_KEY: apiKey, DATA_DIR: path.join(folder, 'none') };
    const works = await runAdmin([...args, '--smtp', `${HOST}:${target.smtp.port}`], { environment });
    assert.equal(works.code, 0, works.stdout + works.stderr);
    const fails = await runAdmin([...args, '--smtp', `${HOST}:${await testPort()}`], { environment });
    assert.equal(fails.code, 3, fails.stdout + fails.stderr);
    const { results } = JSON.parse(fails.stdout) as { results: LegResult[] };
    assert.deepEqual(failed(results), ['smtp']);
    assert.equal((await runAdmin(args, { environment: { DATA_DIR: path.join(folder, 'none') } })).code, 1);
  });

  let probed = '';
  test('without a signal it goes on, and shows the results as metrics', async () => {
    const port = await testPort();
    let text = '';
    let asked = false;
    const ended = await runAdmin(
      [
        ...[
          'prober',
          '--api',
          target.api,
          '--smtp',
          `${HOST}:${target.smtp.port}`,
          '--imap',
          `${HOST}:${target.imap.port}`,
        ],
        // Its certificate is not trusted here.
        ...['--server-name', 'localhost', '--port', String(port), '--bind', HOST],
      ],
      {
        environment: { PROBE_API_KEY: apiKey, DATA_DIR: path.join(folder, 'none') },
        onProgress(stderr, kill) {
          if (asked || !stderr.includes('imap:')) return;
          asked = true;
          void fetch(`http://${HOST}:${port}/metrics`)
            .then((answer) => answer.text())
            .then((answer) => {
              text = answer;
            })
            .finally(() => kill('SIGTERM'));
        },
      },
    );
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(text, /^agent_mailbox_probe_success\{leg="smtp"\} 1$/m);
    assert.match(text, /^agent_mailbox_probe_success\{leg="imap"\} 0$/m);
    assert.match(text, /^agent_mailbox_probe_last_success_timestamp_seconds\{leg="webhook"\} \d/m);
    probed = text;
  });

  test('the alert about a leg that fails fires on these metrics', needs('promtool'), async () => {
    assert.notEqual(probed, '');
    await expectAlerts('prober', NO_SCRAPE, readScrape(new Map([['prober', probed]])), ['ProbeFails', 'QueuesUnknown']);
  });

  /** What fails while a part is stopped, and how its reason begins. */
  const STOPPED: Readonly<Record<Part, Readonly<Record<string, RegExp>>>> = {
    mail: { smtp: /ECONNREFUSED/, imap: /ECONNREFUSED/ },
    worker: { webhook: /webhook did not come/, approval: /decision had no effect/ },
    api: { smtp: /^API: /, imap: /^API: /, webhook: /^API: /, approval: /^API: / },
  };
  for (const part of PARTS)
    test(`without ${part} its legs fail, and no others; all work when it is back`, async () => {
      await parts.get(part)?.stop();
      const within = new Prober({ ...target, withinMs: 3_000 });
      const results = await within.run(true);
      assert.deepEqual(failed(results).toSorted(), Object.keys(STOPPED[part]).toSorted(), reasonsOf(results));
      for (const { leg, reason } of results) assert.match(reason ?? '', STOPPED[part][leg] ?? /^$/);
      await start(part);
      const back = await new Prober(target).run(true);
      assert.deepEqual(failed(back), [], reasonsOf(back));
    });
});
