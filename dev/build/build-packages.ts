/**
 * Builds what is published, as JavaScript with types, because Node does not run TypeScript in packages.
 *
 *   npm run build:client [-- folder]       the client, for every runtime that has `fetch` and WebCrypto; default: dist/client
 *   npm run build:tools [-- folder]        packs of tools for agents, which depend on the client; default: dist/tools
 *   npm run build:package [-- folder]      the command line with MCP over stdio, which depends on the client; default: dist/package
 *   npm run build:packages [-- folder]     those of `packages/` and the nodes for n8n; default: dist/packages
 *
 * Then `npm publish` of the folder; of those of `packages/`, mime-structure and mail-store first, because the others depend
 * on them.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly private?: boolean;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;
const javascript = (file: string): string => file.replace(/\.ts$/, '.js');
const types = (file: string): string => file.replace(/\.ts$/, '.d.ts');
const each = (files: Readonly<Record<string, string>>, change: (file: string) => unknown) =>
  Object.fromEntries(Object.entries(files).map(([key, file]) => [key, change(file)]));

/** What a built package does not need. */
const NOT_PUBLISHED = { scripts: undefined, devDependencies: undefined, private: undefined };

/** Manifest, licence and README of a package that was compiled into a folder. */
function describe(folder: string, manifest: object, readme: string): void {
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  cpSync(path.join(root, readme), path.join(folder, 'README.md'));
}

function describeAs(folder: string, source: string, more: object = {}): void {
  const manifest = manifestOf(source);
  const exports = each(manifest.exports, (file) => ({ types: types(file), default: javascript(file) }));
  const imports = manifest.imports === undefined ? {} : { imports: each(manifest.imports, javascript) };
  describe(folder, { ...manifest, ...more, exports, ...imports, ...NOT_PUBLISHED }, `${source}/README.md`);
}

const compile = (config: string, folder: string): Buffer =>
  execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', config, '--outDir', folder], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });

/** Packages that the files of the command import; with the versions of the project. */
const COMMAND_DEPENDENCIES = ['@agent-mailbox/client', '@modelcontextprotocol/server', 'ajv', 'commander', 'typebox'];
/** The oldest Node that all of them support, and whose styleText checks the stream. */
const COMMAND_NODE = '>=22.13';
/** The oldest Node that the packages of others which those of `packages/` use support. Their TypeScript needs a later one. */
const PACKAGES_NODE = '>=20.19';

interface Build {
  readonly config: string;
  /** A file of an earlier build: without it, a folder that is not empty is something else. */
  readonly mark: string;
  /** @param folder that was compiled into */
  finish(folder: string): void;
}

const BUILDS: Readonly<Record<string, Build>> = {
  client: {
    config: 'tsconfig.client.json',
    mark: 'organization-client.js',
    finish: (folder) => describeAs(folder, 'client'),
  },
  tools: {
    config: 'tsconfig.tools.json',
    mark: 'src/mailbox-tools.js',
    finish(folder) {
      cpSync(path.join(folder, 'integrations/tools/src'), path.join(folder, 'src'), { recursive: true });
      // Compiled because the tools import it; published alone.
      for (const other of ['client', 'integrations'])
        rmSync(path.join(folder, other), { recursive: true, force: true });
      describeAs(folder, 'integrations/tools');
    },
  },
  package: {
    config: 'tsconfig.package.json',
    mark: 'cli/main.js',
    finish(folder) {
      // Compiled because the command imports it; published alone.
      rmSync(path.join(folder, 'client'), { recursive: true, force: true });
      chmodSync(path.join(folder, 'cli/main.js'), 0o755);
      const project = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
        readonly name: string;
        readonly version: string;
        readonly description: string;
        readonly license: string;
        readonly dependencies: Readonly<Record<string, string>>;
      };
      const { name, version, description, license, dependencies } = project;
      const manifest = {
        ...{ name, version, description, license, type: 'module', engines: { node: COMMAND_NODE } },
        imports: {
          '#client/index.ts': '@agent-mailbox/client',
          '#client/model-text.ts': '@agent-mailbox/client/model-text',
          '#client/snippets.ts': '@agent-mailbox/client/snippets',
          ...Object.fromEntries(['cli', 'mcp'].map((layer) => [`#${layer}/*.ts`, `./${layer}/*.js`])),
        },
        bin: { 'agent-mailbox': 'cli/main.js' },
        dependencies: Object.fromEntries(COMMAND_DEPENDENCIES.map((other) => [other, dependencies[other]])),
      };
      describe(folder, manifest, 'docs/cli.md');
    },
  },
  packages: {
    config: 'tsconfig.packages.json',
    mark: 'imap/src/serve.js',
    finish(folder) {
      for (const name of readdirSync(folder)) {
        if (manifestOf(`packages/${name}`).private === true)
          throw new Error(`packages/${name} is private and cannot be published`);
        describeAs(path.join(folder, name), `packages/${name}`, { engines: { node: PACKAGES_NODE } });
      }
      buildN8nPackage(path.join(folder, N8N_PACKAGE));
    },
  },
};

export const N8N_PACKAGE = 'n8n-nodes-agent-mailbox';
/**
 * n8n itself; its rules for packages ask for this entry. Nothing is imported from it: without `optional`, npm would install
 * it with all that it depends on.
 */
const N8N_PEERS = {
  peerDependencies: { 'n8n-workflow': '*' },
  peerDependenciesMeta: { 'n8n-workflow': { optional: true } },
};

/**
 * The nodes for n8n, as CommonJS in the folders that n8n's `package.json` section names.
 *
 * @param folder of the package; `npm publish` takes it as it is
 */
export function buildN8nPackage(folder: string): void {
  const source = path.join(root, 'integrations/n8n');
  const built = path.join(folder, 'dist');
  compile('tsconfig.n8n.json', built);
  // Icons, and what n8n's editor shows about a node.
  for (const file of globSync('**/*.{svg,json}', { cwd: path.join(source, 'src') }))
    cpSync(path.join(source, 'src', file), path.join(built, file));
  // It had types alone.
  rmSync(path.join(built, 'n8n-interfaces.js'));
  cpSync(path.join(source, 'examples'), path.join(folder, 'examples'), { recursive: true });
  // The sources are modules, what is built is CommonJS.
  const manifest = { ...manifestOf('integrations/n8n'), type: undefined, private: undefined, ...N8N_PEERS };
  describe(folder, manifest, 'integrations/n8n/README.md');
}

/** @throws {Error} the folder has something else in it; it would be emptied */
function build(name: string, folder: string): void {
  const { config, mark, finish } = BUILDS[name] ?? {};
  if (config === undefined || mark === undefined || finish === undefined)
    throw new Error(`There is no package "${name}". Name one of ${Object.keys(BUILDS).join(', ')}.`);
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, mark)))
    throw new Error(`${folder} is not empty and contains nothing that was built before. Give another folder.`);
  rmSync(folder, { recursive: true, force: true });
  compile(config, folder);
  finish(folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name = '', folder = `dist/${name}`] = process.argv;
  try {
    build(name, path.resolve(root, folder));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
