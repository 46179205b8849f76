/**
 * Which test files need no server, socket or child process: they run while the servers
 * start, in a process without them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What opens something that outlives a test, or is slow to load. */
const HEAVY =
  /^(?:node:(?:child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)|pg|playwright-core|@temporalio\/(?:client|testing|worker)|@mikro-orm\/.*)$/;
/** `import x from 'y'`, `export … from 'y'`, `import 'y'`, `import('y')`; imports of types load nothing. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\(\s*'([^']+)'|new URL\(\s*'([^']+\.ts)'/g;

/** The file behind `#layer/…`, or behind a name of the packages: `#imap/…` within one, `@agent-mailbox/imap` from outside. */
function ownModule(root: string, importer: string, name: string): string | undefined {
  const [, given, within] = /^@agent-mailbox\/([^/]+)(\/.+)?$/.exec(name) ?? [];
  if (given !== undefined) return resolved(homeOf(root, given), 'exports', `.${within ?? ''}`);
  if (!name.startsWith('#')) return undefined;
  const [home] = /^packages\/[^/]+/.exec(path.relative(root, importer)) ?? [];
  return home === undefined ? path.join(root, name.slice(1)) : resolved(path.join(root, home), 'imports', name);
}

/** The folder of a workspace. */
const homeOf = (root: string, name: string): string =>
  ['packages', 'integrations', '.'].map((home) => path.join(root, home, name)).find((folder) => existsSync(folder)) ??
  root;

/** What a map of a package.json gives for a name; its patterns have one `*`. */
function resolved(folder: string, map: 'exports' | 'imports', name: string): string {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Record<
    typeof map,
    Readonly<Record<string, string>> | undefined
  >;
  for (const [key, target] of Object.entries(manifest[map] ?? {})) {
    const [before = '', after] = key.split('*');
    if (after === undefined ? name !== key : !name.startsWith(before) || !name.endsWith(after)) continue;
    const middle = after === undefined ? '' : name.slice(before.length, name.length - after.length);
    return path.join(folder, target.replace('*', middle));
  }
  throw new Error(`${folder} has no ${map} for ${name}`);
}

/** @returns what a file loads, however far away: paths of own modules, and names of others */
export function modulesOf(root: string): (file: string) => ReadonlySet<string> {
  const loads = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = loads.get(file);
    if (known !== undefined) return known;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const found = [...text.matchAll(IMPORT)].map(([, from, dynamic, url]) => from ?? dynamic ?? url ?? '');
    const names = found.map((name) => {
      const own = ownModule(root, file, name);
      if (own !== undefined) return own;
      return name.startsWith('.') ? path.resolve(path.dirname(file), name) : name;
    });
    loads.set(file, names);
    return names;
  };
  return (file) => {
    const seen = new Set<string>();
    const open = [path.resolve(root, file)];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (path.isAbsolute(next)) open.push(...importsOf(next));
    }
    return seen;
  };
}

/** @returns a predicate: whether no module that the file loads is heavy */
export function needsNoServer(modules: (file: string) => ReadonlySet<string>): (file: string) => boolean {
  return (file) => ![...modules(file)].some((name) => HEAVY.test(name));
}
