/**
 * Collects the files of the image, in a folder where the packages are installed and the pages built. The Dockerfile runs it:
 *
 *   node dev/build/build-image-folder.ts <folder>
 *
 *   <folder>/node_modules    packages that the programs import, and the packages that these need
 *   <folder>/service         the files of the programs, with the built pages and workflows
 *
 * What is copied follows from the imports of the programs, so a package that only the build needs is left out by itself.
 * Of packages it leaves out types, source maps and what is for other systems. The Temporal SDK loads a bundler that runs
 * only for workflows that are not bundled: empty packages take its place.
 */
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, findPackageJSON, isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { parseSync } from 'vite';
import { workflowBundle } from '#worker/bundle.ts';
import { buildDashboard } from './build-dashboard.ts';
import { buildDocumentation } from './build-documentation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a container may run; docs/configuration.md names those that are not in docker-compose.yml. */
export const IMAGE_PROGRAMS: readonly string[] = [
  'api/main.ts',
  'worker/main.ts',
  'mail/main.ts',
  'cli/main.ts',
  'cli/agent-mailbox.mjs',
  'dev/start.mjs',
  'operations/admin.ts',
  'operations/agent-mailbox-admin.mjs',
];
/** Dependencies of packages, by the package, that are not needed by what we use of it. */
const NOT_NEEDED: Readonly<Record<string, readonly string[]>> = {
  '@temporalio/worker': ['@swc/core', 'memfs', 'source-map-loader', 'swc-loader', 'unionfs', 'webpack'],
};
/** Those of them that are loaded all the same, and not called. */
const LOADED_UNUSED = ['memfs', 'unionfs', 'webpack'];
const UNUSED_PACKAGE = `// Takes the place of a package that the image does not need: its workflows are bundled.
module.exports = new Proxy({}, {
  get(_, name) {
    if (name === '__esModule' || typeof name === 'symbol') return undefined;
    throw new Error('The image has no bundler: its workflows were bundled when it was built');
  },
});
`;
/** Folder below `releases`. */
const addonOfThisSystem = (
  createRequire(import.meta.url)('@temporalio/core-bridge/common') as { getPrebuiltTargetName(): string }
).getPrebuiltTargetName();
const LEFT_OUT = /\.(?:map|ts|mts|cts|tsx|flow|markdown|md|tsbuildinfo)$/;
/** Has native addons by platform in `releases`, and their sources. */
const CORE_BRIDGE = '@temporalio/core-bridge';
const CORE_BRIDGE_SOURCES = ['sdk-core', 'src', 'ts', 'bridge-macros', 'scripts', 'Cargo.toml', 'Cargo.lock'];

type Parse = typeof parseSync;

interface Manifest {
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
const isOfPackage = (folder: string) => folder.split(path.sep).includes('node_modules');
const packageName = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Folder of a package as a file or a package that imports it finds it, symbolic links followed; undefined: not installed. */
function findPackage(name: string, from: string): string | undefined {
  const manifest = findPackageJSON(name, pathToFileURL(from));
  return manifest === undefined ? undefined : path.dirname(realpathSync(manifest));
}

/** Specifiers and addresses beside the module that a module of ours loads, types excepted. */
function loadedBy(file: string, parse: Parse): { specifiers: string[]; beside: string[] } {
  const source = readFileSync(file, 'utf8');
  const { module, errors } = parse(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const isType = (start: number) => /^(?:import|export)\s+type\b/.test(source.slice(start, start + 20));
  const literal = ({ start, end }: { start: number; end: number }) => /^'(.*)'$/.exec(source.slice(start, end))?.[1];
  const imported = module.staticImports.filter(({ start }) => !isType(start)).map((each) => each.moduleRequest.value);
  const exported = module.staticExports
    .filter(({ start }) => !isType(start))
    .flatMap(({ entries }) => entries.flatMap((each) => each.moduleRequest?.value ?? []));
  const dynamic = module.dynamicImports.flatMap((each) => literal(each.moduleRequest) ?? []);
  const beside = [...source.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].flatMap(
    ([, address]) => address ?? [],
  );
  return { specifiers: [...imported, ...exported, ...dynamic], beside };
}

/** What the programs load: files and folders of ours, as paths below the root, and folders of packages. */
function whatProgramsLoad(parse: Parse): { own: Set<string>; packages: Set<string> } {
  const own = new Set<string>();
  const packages = new Set<string>();
  const waiting = IMAGE_PROGRAMS.map((program) => path.join(root, program));

  function addWorkspace(folder: string): void {
    own.add(path.relative(root, path.join(folder, 'package.json')));
    waiting.push(...globSync('{*,src/**/*}.ts', { cwd: folder }).map((name) => path.join(folder, name)));
  }
  function addPackage(name: string, from: string): void {
    const folder = findPackage(name, from);
    if (folder === undefined) throw new Error(`${path.relative(root, from)} needs ${name}, which is not installed`);
    if (packages.has(folder) || own.has(path.relative(root, path.join(folder, 'package.json')))) return;
    if (!isOfPackage(folder)) return addWorkspace(folder);
    packages.add(folder);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = readManifest(folder);
    const inside = path.join(folder, 'package.json');
    for (const each of Object.keys(dependencies ?? {}))
      if (!(each in (optionalDependencies ?? {})) && !NOT_NEEDED[name]?.includes(each)) addPackage(each, inside);
    const optional = [
      ...Object.keys(optionalDependencies ?? {}),
      ...Object.keys(peerDependencies ?? {}).filter((each) => peerDependenciesMeta?.[each]?.optional !== true),
    ];
    for (const each of optional) if (findPackage(each, inside) !== undefined) addPackage(each, inside);
  }
  function addOwn(file: string): void {
    const name = path.relative(root, file);
    if (own.has(name)) return;
    own.add(name);
    const { base } = path.parse(file);
    if (!/\.m?[jt]s$/.test(base) || statSync(file).isDirectory()) return;
    const { specifiers, beside } = loadedBy(file, parse);
    for (const specifier of specifiers) {
      if (isBuiltin(specifier)) continue;
      if (specifier.startsWith('.')) waiting.push(path.resolve(path.dirname(file), specifier));
      // Those inside of a workspace are all taken.
      else if (specifier.startsWith('#') && !/^#(?:imap|pop3)\//.test(specifier))
        waiting.push(path.join(root, specifier.slice(1)));
      else if (!specifier.startsWith('#')) addPackage(packageName(specifier), file);
    }
    for (const address of beside) waiting.push(path.resolve(path.dirname(file), address));
  }

  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) addOwn(file);
  return { own, packages };
}

/** Whether a file of a package is in the image. */
function isKept(packageFolder: string, file: string): boolean {
  const name = path.relative(packageFolder, file);
  const [first = '', second] = name.split(path.sep);
  // Copied for itself, if it is needed.
  if (first === 'node_modules') return false;
  if (packageFolder.endsWith(CORE_BRIDGE)) {
    if (CORE_BRIDGE_SOURCES.includes(first)) return false;
    if (first === 'releases' && second !== undefined && second !== addonOfThisSystem) return false;
  }
  return !LEFT_OUT.test(name) || /licen[cs]e|copying|notice/i.test(path.basename(name));
}

/**
 * @param target is created anew
 * @throws if a program imports what is not installed
 */
export async function buildImageFolder(target: string): Promise<void> {
  const vite = await import('vite');
  rmSync(target, { recursive: true, force: true });
  const { own, packages } = whatProgramsLoad(vite.parseSync);
  const service = path.join(target, 'service');
  for (const name of ['package.json', 'LICENSE', ...own])
    cpSync(path.join(root, name), path.join(service, name), { recursive: true });
  const modules = path.join(target, 'node_modules');
  for (const folder of packages) {
    const name = path.relative(root, folder);
    const place = name.startsWith('node_modules') ? target : service;
    cpSync(folder, path.join(place, name), { recursive: true, filter: (file) => isKept(folder, file) });
  }
  for (const name of LOADED_UNUSED) {
    mkdirSync(path.join(modules, name), { recursive: true });
    writeFileSync(path.join(modules, name, 'package.json'), `${JSON.stringify({ name, version: '0.0.0' })}\n`);
    writeFileSync(path.join(modules, name, 'index.js'), UNUSED_PACKAGE);
  }
  const workspaces = [...own].filter((name) => path.basename(name) === 'package.json' && name !== 'package.json');
  for (const manifest of workspaces) {
    const folder = path.dirname(path.join(service, manifest));
    const link = path.join(modules, readManifest(folder).name ?? '');
    mkdirSync(path.dirname(link), { recursive: true });
    // In the image, `service` and the packages are one folder.
    symlinkSync(path.relative(path.dirname(link), path.join(target, path.dirname(manifest))), link);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , target] = process.argv;
  if (target === undefined) throw new Error('usage: node dev/build/build-image-folder.ts <folder>');
  await buildDashboard();
  await buildDocumentation();
  await workflowBundle();
  await buildImageFolder(path.resolve(target));
}
