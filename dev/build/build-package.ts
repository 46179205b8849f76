/**
 * Builds the published command: the command line with MCP over stdio, as JavaScript, because Node does not run
 * TypeScript in packages. It depends on the package of the client (`npm run build:client`).
 *
 *   npm run build:package [-- folder]      default: dist/package; then `npm publish dist/package`
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.resolve(root, process.argv[2] ?? 'dist/package');
/** Packages that the published files import; with the versions of the project. */
const DEPENDENCIES = ['@agent-mailbox/client', '@modelcontextprotocol/server', 'ajv', 'commander', 'typebox'] as const;
/** The oldest Node that all of them support, and whose styleText checks the stream. */
const NODE = '>=22.13';

const project = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

// It is emptied: never a folder with anything but an earlier package.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'cli/main.js'))) {
  process.stderr.write(`${folder} is not empty and contains no package that was built before. Give another folder.\n`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.package.json', '--outDir', folder], {
  cwd: root,
  stdio: 'inherit',
});
// Compiled because the command imports it; published alone.
rmSync(path.join(folder, 'client'), { recursive: true, force: true });
chmodSync(path.join(folder, 'cli/main.js'), 0o755);
const { name, version, description, license, dependencies } = project;
const manifest = {
  name,
  version,
  description,
  license,
  type: 'module',
  engines: { node: NODE },
  imports: {
    '#client/index.ts': '@agent-mailbox/client',
    '#client/snippets.ts': '@agent-mailbox/client/snippets',
    ...Object.fromEntries(['cli', 'mcp'].map((each) => [`#${each}/*.ts`, `./${each}/*.js`])),
  },
  bin: { 'agent-mailbox': 'cli/main.js' },
  dependencies: Object.fromEntries(DEPENDENCIES.map((each) => [each, dependencies[each]])),
};
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(root, 'docs/cli.md'), path.join(folder, 'README.md'));
