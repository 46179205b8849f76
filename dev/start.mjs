// Runs one of the project's scripts with a suitable Node: `node dev/start.mjs <script> [arguments]`.
//
// Runs with any Node since 12, because an old Node executes this file first. `npm run` puts the Node 24 that was
// installed with the project first on PATH. If the current Node is too old anyway (started outside npm, or on a system
// without such a package), this file looks for that binary, and if there is none it prints what to do.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as modules from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Major and minor version: `>=24.16` of package.json. */
const NEEDED = engines.node.match(/\d+/g).map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
const isNewEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
const script = process.argv[2];

function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return [
    join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', file),
    join(root, 'node_modules', '.bin', file),
  ].find((candidate) => existsSync(candidate));
}

function fail(lines) {
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exit(1);
}

if (!script) fail(['Usage: node dev/start.mjs <script> [arguments]']);
if (!existsSync(join(root, 'node_modules')))
  fail(['The packages are not installed yet. Run this first, in the project folder:', '', '  npm ci']);

if (isNewEnough) {
  // TypeScript without its types, and compiled, is kept between two starts: most of the time of a start would be making
  // it. In a folder of this person: what others could write to would be run. It is written when a process ends of its
  // own accord, and when one that may be killed asks for it (`module.flushCompileCache`).
  const { XDG_CACHE_HOME: cacheHome = '' } = process.env;
  if (!process.env.NODE_COMPILE_CACHE)
    modules.enableCompileCache(
      join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache'), 'agent-mailbox', 'compiled'),
    );
  process.argv.splice(1, 2, resolve(root, script));
  await import(pathToFileURL(process.argv[1]).href);
} else {
  const node = process.env.AGENT_MAILBOX_NODE_TRIED ? undefined : findNode();
  if (!node)
    fail([
      `This needs Node ${NEEDED.join('.')} or later, but ${process.execPath} is ${process.version}.`,
      process.platform === 'darwin'
        ? 'On macOS npm cannot install it. Install it (`brew install node@24`, or https://nodejs.org) and start again.'
        : 'Run `npm ci` without --omit=optional, which installs it, or install it from https://nodejs.org.',
    ]);
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, AGENT_MAILBOX_NODE_TRIED: '1' },
  });
  // Ctrl-C reaches the child directly; signals sent to this process only are forwarded.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signal === 'SIGINT' || child.kill(signal));
  child.once('error', (error) => fail([`${node} does not run: ${error.message}`]));
  child.once('close', (code, signal) => (signal ? process.kill(process.pid, 'SIGKILL') : process.exit(code ?? 1)));
}
