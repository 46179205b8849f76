/**
 * `npm test`: checks the types, the style and the layers, then runs the tests.
 *
 * One PostgreSQL and one Temporal server on free ports, in a folder that is removed at the end, serve all test files; a
 * migrated template database, the bundled workflows and a certificate are made once. Files run two at a time, each in a
 * process of its own. `npm test -- test/api/x.test.ts` runs single files without the checks; further options go to
 * node's test runner.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { developmentCertificates } from '../dev/certificates.ts';
import { startEmbeddedPostgres } from '../dev/embedded-postgres.ts';
import { temporalProgram } from '../dev/temporal-program.ts';
import { startTemporalServer } from '../dev/temporal-server.ts';
import { workflowBundle } from '../worker/bundle.ts';
import { TEST_ENVIRONMENT } from './support/services.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const TEMPLATE = 'template_migrated';
const BUNDLE_CACHE = path.join(root, 'node_modules/.cache/agent-mailbox');
const FILES_AT_ONCE = 2;
const TEST_TIMEOUT_MS = 180_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

const CHECKS: readonly { name: string; command: readonly string[] }[] = [
  { name: 'types (tsc)', command: ['tsc', '-p', '.'] },
  { name: 'format (biome)', command: ['biome', 'check', '--error-on-warnings'] },
  { name: 'lint and layers (oxlint)', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'unused code (knip)', command: ['knip', '--no-progress'] },
];

/** Runs a program of node_modules; resolves with its exit code and what it wrote. */
function run(command: readonly string[]): Promise<{ code: number; output: string }> {
  const [name = '', ...args] = command;
  const child = spawn(path.join(root, 'node_modules/.bin', name), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

/** @returns whether all checks passed */
async function check(): Promise<boolean> {
  let passed = true;
  for (const { name, command } of CHECKS) {
    const startedAt = performance.now();
    const { code, output } = await run(command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    say(`${code === 0 ? '✔' : '✖'} ${name} ${seconds} s`);
    if (code !== 0) say(output);
    passed &&= code === 0;
  }
  return passed;
}

/** A migrated database nobody is connected to, to be copied. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const maintenance = new URL(serverUrl);
  maintenance.pathname = 'postgres';
  const client = new pg.Client({ connectionString: maintenance.href });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = TEMPLATE;
  const db = await openDatabase({ url: url.href, poolMax: 2 });
  await migrate(db);
  await db.close();
  return maintenance.href;
}

async function runTests(files: readonly string[], options: readonly string[]): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-test-'));
  const toStop: (() => Promise<void>)[] = [];
  const interrupted = new AbortController();
  const onSignal = () => interrupted.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const events = { onCrash: say, onGivenUp: (error: Error) => say(error.message) };
  try {
    const startedAt = performance.now();
    const bundleFile = path.join(folder, 'workflows.js');
    const [postgres, temporal] = await Promise.all([
      startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0, disposable: true, events }).then(
        async (server) => {
          toStop.push(server.stop);
          return makeTemplate(server.url);
        },
      ),
      temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress: say }).then(async (program) => {
        const server = await startTemporalServer({
          program,
          folder: path.join(folder, 'temporal'),
          port: 0,
          namespace: 'default',
          events,
        });
        toStop.push(server.stop);
        return server;
      }),
      workflowBundle(BUNDLE_CACHE).then(({ code }) => writeFileSync(bundleFile, code)),
    ]);
    const tls = developmentCertificates(path.join(folder, 'tls'), ['mail.test']);
    say(
      `PostgreSQL ${new URL(postgres).host}, Temporal ${temporal.address}: up in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    const child = spawn(
      process.execPath,
      [
        `--import=${new URL('./support/leak-guard.ts', import.meta.url).href}`,
        '--test',
        `--test-concurrency=${FILES_AT_ONCE}`,
        `--test-timeout=${TEST_TIMEOUT_MS}`,
        '--test-reporter=spec',
        ...options,
        ...files,
      ],
      {
        cwd: root,
        stdio: 'inherit',
        env: {
          ...process.env,
          [TEST_ENVIRONMENT.postgres]: postgres,
          [TEST_ENVIRONMENT.template]: TEMPLATE,
          [TEST_ENVIRONMENT.temporal]: temporal.address,
          [TEST_ENVIRONMENT.workflowBundle]: bundleFile,
          [TEST_ENVIRONMENT.caFile]: tls.caFile,
          [TEST_ENVIRONMENT.certFile]: tls.certFile,
          [TEST_ENVIRONMENT.keyFile]: tls.keyFile,
        },
      },
    );
    interrupted.signal.addEventListener('abort', () => child.kill('SIGTERM'));
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    await Promise.all(toStop.map((stop) => stop()));
    rmSync(folder, { recursive: true, force: true });
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith('-'));
const named = given.filter((argument) => !argument.startsWith('-'));
const files = named.length > 0 ? named : globSync('test/**/*.test.ts', { cwd: root }).toSorted();
const passed = named.length > 0 || (await check());
const code = await runTests(files, options);
if (!passed) say('✖ The tests ran, but a check above failed.');
process.exitCode = code === 0 && !passed ? 1 : code;
