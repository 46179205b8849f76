/** The published packages as a stranger gets them: built, packed, and installed in an empty project without a network. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { N8N_PACKAGE } from './build-packages.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface PackedPackages {
  /** Folders of our built packages, by name. */
  readonly built: ReadonlyMap<string, string>;
  /** Installs packages of ours, and of others by name, with what they depend on. @returns the project's folder */
  install(project: string, names: readonly string[]): Promise<string>;
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

/** @param folder a new one, for everything that is made */
export async function packPackages(folder: string): Promise<PackedPackages> {
  const [client, tools, command, engines] = ['client', 'tools', 'command', 'engines'].map((name) =>
    path.join(folder, 'built', name),
  ) as [string, string, string, string];
  for (const [name, output] of [
    ['client', client],
    ['tools', tools],
    ['package', command],
    ['packages', engines],
  ] as const)
    await run(process.execPath, ['dev/build/build-packages.ts', name, output], { cwd: root });
  // n8n loads its nodes itself: nothing else installs them.
  const others = readdirSync(engines).filter((name) => name !== N8N_PACKAGE);
  const folders = [client, tools, command, ...others.map((name) => path.join(engines, name))];
  const built = new Map(folders.map((each) => [manifestOf(each).name, each]));
  const folderOf = (name: string): string => built.get(name) ?? path.join(root, 'node_modules', name);

  function withDependencies(names: readonly string[]): string[] {
    const found = new Set<string>(names);
    // A set is iterated over with what is added meanwhile.
    for (const name of found)
      for (const each of Object.keys(manifestOf(folderOf(name)).dependencies ?? {})) found.add(each);
    return [...found];
  }

  return {
    built,
    async install(project, names) {
      const tarballs = path.join(folder, 'tarballs', path.basename(project));
      for (const each of [project, tarballs]) mkdirSync(each, { recursive: true });
      const all = withDependencies(names);
      await run('npm', ['pack', '--ignore-scripts', '--pack-destination', tarballs, ...all.map(folderOf)], {
        cwd: folder,
        maxBuffer: 100_000_000,
      });
      writeFileSync(path.join(project, 'package.json'), '{"private": true, "type": "module"}');
      const files = readdirSync(tarballs).map((name) => path.join(tarballs, name));
      const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
      await run('npm', ['install', ...options, ...files], { cwd: project });
      return project;
    },
  };
}
