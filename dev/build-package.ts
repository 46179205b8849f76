/**
 * Builds what is published: the client and the command line with MCP over stdio, as JavaScript with types, since Node
 * takes no TypeScript from a package.
 *
 *   npm run build:package [-- folder]      default: dist/package; then `npm publish dist/package`
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.resolve(root, process.argv[2] ?? 'dist/package');
/** What the published files import; their versions are those of the project. */
const DEPENDENCIES = ['@modelcontextprotocol/server', 'ajv', 'commander', 'typebox'] as const;
/** The oldest Node that all of them take, and whose styleText looks at the stream. */
const NODE = '>=22.13';

const project = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

// It is emptied: never one that holds anything but an earlier package.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'client/index.js'))) {
  process.stderr.write(`${folder} is not empty and holds no package that was built before. Name another folder.\n`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.package.json', '--outDir', folder], {
  cwd: root,
  stdio: 'inherit',
});
chmodSync(path.join(folder, 'cli/main.js'), 0o755);
const { name, version, description, license, dependencies } = project;
const manifest = {
  name,
  version,
  description,
  license,
  type: 'module',
  engines: { node: NODE },
  bin: { 'agent-mailbox': 'cli/main.js' },
  exports: { '.': { types: './client/index.d.ts', default: './client/index.js' } },
  dependencies: Object.fromEntries(DEPENDENCIES.map((each) => [each, dependencies[each]])),
};
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(root, 'docs/cli.md'), path.join(folder, 'README.md'));
