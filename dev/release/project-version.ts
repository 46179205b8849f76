/**
 * The version of the project: the same in package.json, in those of the workspaces, in package-lock.json, in server.json,
 * in the Python package and in the Helm chart.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

interface Manifest {
  name: string;
  version: string;
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface Lockfile {
  version: string;
  packages: Record<string, Manifest>;
}

const read = <Content>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as Content;
const write = (file: string, content: object) => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);

/** Sets the version of one package and of the dependencies on the others, unless they are ranges. */
function setVersion(manifest: Manifest, version: string, ours: ReadonlySet<string>): void {
  const before = manifest.version;
  manifest.version = version;
  for (const kind of DEPENDENCIES)
    for (const [name, wanted] of Object.entries(manifest[kind] ?? {}))
      if (ours.has(name) && wanted === before) Object.assign(manifest[kind] ?? {}, { [name]: version });
}

export const projectVersion = (folder: string): string => read<Manifest>(path.join(folder, 'package.json')).version;

/** What registries of MCP servers read, if the project has it. */
function setServerVersion(folder: string, version: string): string[] {
  const file = path.join(folder, 'server.json');
  if (!existsSync(file)) return [];
  const server = read<{ version: string; packages: { version: string }[] }>(file);
  server.version = version;
  for (const each of server.packages) each.version = version;
  write(file, server);
  return ['server.json'];
}

/** Where the Python package and the chart say their version, by the folder that a project may lack; once in each line. */
const WRITTEN_VERSIONS: readonly (readonly [folder: string, file: string, line: RegExp])[] = [
  ['python', 'python/pyproject.toml', /^(version = ")[^"]*(")$/gm],
  ['python', 'python/src/agent_mailbox/__init__.py', /^(__version__ = ")[^"]*(")$/gm],
  ['deploy/helm', 'deploy/helm/agent-mailbox/Chart.yaml', /^(version: )\S+()\n(?=appVersion: )/gm],
  ['deploy/helm', 'deploy/helm/agent-mailbox/Chart.yaml', /^(appVersion: ")[^"]*(")$/gm],
];

/** @throws {Error} before a file is changed, when one does not say its version */
function setWrittenVersions(folder: string, version: string): string[] {
  const changed = new Map<string, string>();
  for (const [part, name, line] of WRITTEN_VERSIONS) {
    if (!existsSync(path.join(folder, part))) continue;
    const text = changed.get(name) ?? readFileSync(path.join(folder, name), 'utf8');
    if (text.match(line)?.length !== 1) throw new Error(`${name} must have one line with its version`);
    changed.set(
      name,
      text.replace(
        line,
        (found, before: string, after: string) => `${before}${version}${after}${found.endsWith('\n') ? '\n' : ''}`,
      ),
    );
  }
  for (const [name, text] of changed) writeFileSync(path.join(folder, name), text);
  return [...changed.keys()];
}

/** @returns the changed files, relative to the folder */
export function setProjectVersion(folder: string, version: string): string[] {
  const { workspaces = [] } = read<Manifest>(path.join(folder, 'package.json'));
  const files = globSync(['package.json', ...workspaces.map((each) => `${each}/package.json`)], { cwd: folder });
  const ours = new Set(files.map((file) => read<Manifest>(path.join(folder, file)).name));
  for (const file of files) {
    const manifest = read<Manifest>(path.join(folder, file));
    setVersion(manifest, version, ours);
    write(path.join(folder, file), manifest);
  }
  const lockfile = read<Lockfile>(path.join(folder, 'package-lock.json'));
  lockfile.version = version;
  for (const file of files) {
    const entry = lockfile.packages[file === 'package.json' ? '' : path.dirname(file)];
    if (entry !== undefined) setVersion(entry, version, ours);
  }
  write(path.join(folder, 'package-lock.json'), lockfile);
  return [...files, 'package-lock.json', ...setServerVersion(folder, version), ...setWrittenVersions(folder, version)];
}
