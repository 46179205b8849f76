/** The rules of `deploy/prometheus/`: what they name exists. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { METRICS } from '#core/platform/log/metrics.ts';
import { anchorOf } from '#dev/documentation/documents.ts';
import { needs, programFile } from '#test/support/programs.ts';

const fileOf = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const rules = fileOf('deploy/prometheus/rules.yml');
/** Comments are not rules. */
const statements = rules.replaceAll(/^\s*#.*$/gm, '');

test('every metric of a rule is declared or recorded, with labels that it has', () => {
  const types = new Map(METRICS.map(({ name, type }) => [name, type]));
  const recorded = new Set([...statements.matchAll(/- record: (\S+)/g)].map(([, name = '']) => name));
  const isKnown = (name: string): boolean => {
    const of = name.replace(/_(?:bucket|count|sum)$/, '');
    return recorded.has(name) || types.has(name) || types.get(of) === 'histogram';
  };
  const named = [...statements.matchAll(/\bagent_mailbox[\w:]*/g)].map(([name]) => name);
  assert.ok(named.length > 50);
  assert.deepEqual(new Set(named.filter((name) => !isKnown(name))), new Set());
  const labels = new Map(METRICS.map(({ name, labels: of }) => [name, of]));
  for (const [, name = '', label = '', value = ''] of statements.matchAll(/\b(agent_mailbox\w+)\{(\w+)!?="([^"]*)"/g)) {
    const values = labels.get(name.replace(/_(?:bucket|count|sum)$/, ''))?.[label];
    assert.ok(values !== undefined, `${name} has no label ${label}`);
    assert.ok(values.length === 0 || values.includes(value), `${name} has no ${label} ${value}`);
  }
});

/** What people report, or other programs. */
const WITHOUT_ALERT = [
  'A mail did not arrive',
  'A backup fails',
  'A migration fails',
  'The database is lost or damaged',
  'A secret has leaked',
  'The address is on a block list',
];

test('every alert names a section of docs/operations/incidents.md, and every other section is known', () => {
  const alerts = [...statements.matchAll(/- alert: (\S+)/g)].map(([, name]) => name);
  assert.ok(alerts.length > 15 && new Set(alerts).size === alerts.length);
  const named = [...statements.matchAll(/runbook_url: \/docs\/operations\/incidents#(\S+)/g)].map(([, at]) => at);
  assert.equal(named.length, alerts.length);
  const sections = [...fileOf('docs/operations/incidents.md').matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    anchorOf(title),
  );
  assert.deepEqual(new Set([...named, ...WITHOUT_ALERT.map(anchorOf)]), new Set(sections));
  assert.ok(sections.length >= 20);
});

const TESTS = ['rules.test.yml', 'rules-over-days.test.yml'];

test('every alert has a test in which it fires', () => {
  const tests = TESTS.map((name) => fileOf(`deploy/prometheus/${name}`)).join('\n');
  for (const [, alert = ''] of statements.matchAll(/- alert: (\S+)/g))
    assert.match(tests, new RegExp(`labels: '\\{alertname="${alert}"[^}]*\\}', value: 1`), alert);
});

const CAUSED_IN = ['alerts-by-cause.test.ts', 'prober.test.ts'];
/** Alerts whose series are made up in every test, each with the reason. */
const NOT_CAUSED: Readonly<Record<string, string>> = {
  CertificateOrderFails: 'holds for six hours after the first order that failed',
  DiskAlmostFull: 'a test would fill the disk of the machine',
  DatabaseGrows: 'is about a database of 10 GiB',
};

test('every alert fires by a real cause in a test, or it is said why not', () => {
  const tests = CAUSED_IN.map((name) => fileOf(`test/operations/${name}`)).join('\n');
  for (const [, alert = ''] of statements.matchAll(/- alert: AgentMailbox(\S+)/g))
    assert.equal(tests.includes(`'${alert}'`), !(alert in NOT_CAUSED), alert);
});

test('promtool accepts the rules, and each alert fires by its reason alone', needs('promtool'), async () => {
  const folder = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
  const promtool = (...args: string[]) => promisify(execFile)(programFile('promtool'), args, { cwd: folder });
  await promtool('check', 'rules', 'rules.yml');
  await promtool('test', 'rules', ...TESTS);
});
