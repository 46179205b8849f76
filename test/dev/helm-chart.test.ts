/** The Helm chart: its values, what it renders to, and what the cluster would say about that. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { METRICS } from '#core/platform/log/metrics.ts';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { findChartProgram, findKubernetesSchemas, KUBERNETES_VERSIONS } from '#dev/build/chart-programs.ts';
import { chartFiles } from '#dev/generate/chart-files.ts';
import { projectVersion } from '#dev/release/project-version.ts';
import { lacks, needs, programFile } from '#test/support/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const chart = path.join(root, 'deploy/helm/agent-mailbox');
const valueFiles = globSync('ci/*.yaml', { cwd: chart }).toSorted();
const folder = mkdtempSync(path.join(tmpdir(), 'helm-chart-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Those of operators; their own schemas are not in Kubernetes. */
const KINDS_OF_OPERATORS = ['PrometheusRule', 'ScaledObject', 'ServiceMonitor'];
const RUN_MAX_MS = 60_000;

/** @returns standard output; rejects with standard error */
async function helm(...args: string[]): Promise<string> {
  const { stdout } = await run(findChartProgram('helm') ?? '', args, {
    timeout: RUN_MAX_MS,
    maxBuffer: 16 * 1024 * 1024,
    env: { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder },
  });
  return stdout;
}
const render = (values: string, ...args: string[]) =>
  helm(
    'template',
    'mail',
    chart,
    '--namespace',
    'agents',
    '--kube-version',
    KUBERNETES_VERSIONS[0],
    '-f',
    path.join(chart, values),
    ...args,
  );

const kindOf = (document: string): string => /^kind: (\S+)$/m.exec(document)?.[1] ?? '';
const documentsOf = (rendered: string): string[] => rendered.split(/^---$/m).filter((each) => kindOf(each) !== '');
const ofKind = (rendered: string, kind: string): string[] =>
  documentsOf(rendered).filter((each) => kindOf(each) === kind);

test('the generated files of the chart are current (npm run generate)', () => {
  for (const [file, text] of chartFiles()) assert.equal(readFileSync(file, 'utf8'), text, file);
});

test('the chart has the version of the project', () => {
  const source = readFileSync(path.join(chart, 'Chart.yaml'), 'utf8');
  const version = projectVersion(root);
  assert.deepEqual(
    [...source.matchAll(/^(?:version|appVersion): "?([^"\n]*)"?$/gm)].map(([, each]) => each),
    [version, version],
  );
});

test('the values and templates name only settings that exist', () => {
  const templates = globSync('{templates/*,values.yaml,ci/*}', { cwd: chart })
    .map((name) => readFileSync(path.join(chart, name), 'utf8'))
    .join('\n');
  const named = [
    ...[...templates.matchAll(/^\s*"([A-Z][A-Z0-9_]+)" "/gm)].map(([, name = '']) => name),
    ...[...templates.matchAll(/^\s*(?:- \{ name: )?([A-Z][A-Z0-9]*_[A-Z0-9_]+)[:,]/gm)].map(([, name = '']) => name),
  ];
  assert.ok(named.length > 30, String(named.length));
  assert.deepEqual(
    named.filter((name) => !(name in SETTINGS)),
    [],
  );
});

describe('helm and kubeconform', needs('helm, kubeconform and schemas of Kubernetes'), () => {
  for (const values of valueFiles)
    test(`accept ${values}, for the oldest and the newest Kubernetes`, async () => {
      await helm('lint', '--strict', chart, '-f', path.join(chart, values));
      const file = path.join(folder, `${path.basename(values, '.yaml')}-rendered.yaml`);
      for (const version of KUBERNETES_VERSIONS) {
        writeFileSync(file, await render(values, '--kube-version', version));
        const { stdout } = await run(
          findChartProgram('kubeconform') ?? '',
          [
            ...['-strict', '-summary', '-output', 'json', '-skip', KINDS_OF_OPERATORS.join(',')],
            ...[
              '-schema-location',
              `${findKubernetesSchemas(version)}/{{ .ResourceKind }}{{ .KindSuffix }}.json`,
              file,
            ],
          ],
          { timeout: RUN_MAX_MS },
        );
        const { summary } = JSON.parse(stdout) as { summary: { valid: number; invalid: number; errors: number } };
        assert.deepEqual([summary.invalid, summary.errors], [0, 0], stdout);
        assert.ok(summary.valid > 10, stdout);
      }
    });

  test('an unknown field of a resource is found', async () => {
    const file = path.join(folder, 'wrong.yaml');
    writeFileSync(file, (await render('ci/small-values.yaml')).replace('enableServiceLinks:', 'enableServiceLinkz:'));
    const location = `${findKubernetesSchemas(KUBERNETES_VERSIONS[0])}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    await assert.rejects(
      run(findChartProgram('kubeconform') ?? '', ['-strict', '-schema-location', location, file]),
      ({ stdout }: { stdout: string }) => stdout.includes('enableServiceLinkz'),
    );
  });

  const REFUSED: Readonly<Record<string, readonly [set: string, reason: RegExp]>> = {
    'a setting that does not exist': ['settings.MAIL_DOMIAN=example.org', /MAIL_DOMIAN/],
    'a secret among the settings': ['settings.DATABASE_URL=postgres://mail', /DATABASE_URL/],
    'a setting that the chart makes itself': ['settings.TLS_CERT=/some/file', /TLS_CERT/],
    'a value that does not exist': ['api.replica=2', /replica/],
    'an installation without its secrets': ['secrets.values.SECRETS_KEYS=', /secrets\.values\.SECRETS_KEYS/],
    'an installation without a certificate': ['mail.tlsSecret=', /mail\.tlsSecret is not set/],
    'a prober without a key': ['prober.enabled=true', /existingSecret/],
    'an ingress without a host': ['api.ingress.enabled=true', /host/],
  };
  for (const [what, [set, reason]] of Object.entries(REFUSED))
    test(`refuse ${what}`, async () => {
      await assert.rejects(render('ci/small-values.yaml', '--set', set), ({ stderr }: { stderr: string }) =>
        reason.test(stderr),
      );
    });

  test('every container cannot write to its root, has no capabilities, and is not root', async () => {
    for (const values of valueFiles) {
      const pods = documentsOf(await render(values)).filter((each) => /^ {6}containers:$/m.test(each));
      assert.ok(pods.length >= 3);
      for (const pod of pods) {
        const containers = pod.match(/^ {8}- name: .*\n {10}image:/gm)?.length;
        for (const line of ['readOnlyRootFilesystem: true', 'allowPrivilegeEscalation: false', 'drop: [ALL]'])
          assert.equal(pod.split(line).length - 1, containers, line);
        for (const line of ['runAsNonRoot: true', 'type: RuntimeDefault', 'automountServiceAccountToken: false'])
          assert.ok(pod.includes(line), line);
        assert.match(pod, /limits:\n? *\{? *memory/);
      }
    }
  });

  test('the migration comes before the processes, with settings and secrets of its own', async () => {
    const rendered = await render('ci/small-values.yaml');
    const hooks = documentsOf(rendered).filter((each) => each.includes('helm.sh/hook: pre-install,pre-upgrade'));
    assert.deepEqual(hooks.map(kindOf).toSorted(), ['ConfigMap', 'Job', 'Secret']);
    const job = hooks.find((each) => kindOf(each) === 'Job') ?? '';
    assert.match(job, /command: \[node, operations\/admin\.ts, migrate\]/);
    // Nothing else of the chart exists yet.
    for (const [, name] of job.matchAll(/(?:configMapRef|secretRef): \{ name: (\S+) \}/g))
      assert.equal(name, 'mail-agent-mailbox-migrate');
    assert.doesNotMatch(job, /serviceAccountName/);
    assert.deepEqual(ofKind(await render('ci/cloud-values.yaml'), 'Job'), []);
  });

  test('a process is ended later than it ends itself', async () => {
    const rendered = await render('ci/cloud-values.yaml');
    const [, deadline] = /SHUTDOWN_DEADLINE_SECONDS: "(\d+)"/.exec(rendered) ?? [];
    const graces = [...rendered.matchAll(/terminationGracePeriodSeconds: (\d+)/g)].map(([, seconds]) =>
      Number(seconds),
    );
    assert.deepEqual(graces, [75, 75, 75]);
    assert.equal(deadline, '60');
  });

  test('workers are added by the backlog, by a metric that exists', async () => {
    const [scaled = ''] = ofKind(await render('ci/production-values.yaml'), 'ScaledObject');
    const [, metric] = /query: .*\b(agent_mailbox_\w+)\{/.exec(scaled) ?? [];
    const external = ofKind(await render('ci/cloud-values.yaml'), 'HorizontalPodAutoscaler').join('\n');
    const names = [metric, /^ +name: (agent_mailbox_\w+)$/m.exec(external)?.[1]];
    for (const name of names)
      assert.ok(
        METRICS.some((each) => each.name === name),
        name,
      );
    // A number of replicas in the Deployment would undo the scaling at each upgrade.
    const deployments = ofKind(await render('ci/production-values.yaml'), 'Deployment');
    const scaledOnes = deployments.filter((each) => !each.includes('-prober'));
    assert.ok(scaledOnes.length === 3 && scaledOnes.every((each) => !/^ {2}replicas:/m.test(each)));
  });

  test('webhooks cannot reach what is not public', async () => {
    const policies = ofKind(await render('ci/production-values.yaml'), 'NetworkPolicy');
    assert.equal(policies.length, 4);
    const toEverywhere = policies.filter((each) => each.includes('cidr: 0.0.0.0/0'));
    assert.equal(toEverywhere.length, 2);
    for (const policy of toEverywhere)
      for (const range of ['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']) assert.ok(policy.includes(`- ${range}`));
  });

  test('the rules that it makes are those of deploy/prometheus/', { skip: lacks('promtool') ?? false }, async () => {
    const [rules = ''] = ofKind(await render('ci/production-values.yaml'), 'PrometheusRule');
    const spec = rules.split(/^spec:\n/m)[1] ?? '';
    const file = path.join(folder, 'rules.yml');
    writeFileSync(file, spec.replaceAll(/^ {2}/gm, ''));
    const { stdout } = await run(programFile('promtool'), ['check', 'rules', file]);
    const source = readFileSync(path.join(root, 'deploy/prometheus/rules.yml'), 'utf8');
    assert.match(stdout, new RegExp(`SUCCESS: ${source.match(/- (?:record|alert): /g)?.length} rules found`));
  });
});
