/**
 * No circles, of files or of folders: within each folder, its files and subfolders have an order in which imports go one
 * way. Type imports count. So whoever changes one room knows which others can notice.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT = /^\s*(?:import|export)\s[^;'"]*?['"]([#.][^'"]+)['"]/gm;
/** `#imap/…` and such, within the packages. */
const PACKAGE = /^packages\/([\w-]+)\//;

/** The file an import names, from the project folder; it need not exist. */
function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  const [, own] = PACKAGE.exec(file) ?? [];
  if (own !== undefined && specifier.startsWith(`#${own}/`))
    return `packages/${own}/src/${specifier.slice(own.length + 2)}`;
  return specifier.slice(1);
}

type Graph = Map<string, Map<string, string>>;

/** For each folder: which of its children imports which other one, with an example. */
function graphsOf(imports: Iterable<readonly [from: string, to: string]>): Map<string, Graph> {
  const graphs = new Map<string, Graph>();
  for (const [from, to] of imports) {
    const [a, b] = [from.split('/'), to.split('/')];
    const depth = a.findIndex((name, index) => name !== b[index]);
    const [x, y] = [a[depth], b[depth]];
    if (x === undefined || y === undefined) continue;
    const folder = a.slice(0, depth).join('/');
    const graph: Graph = graphs.get(folder) ?? new Map<string, Map<string, string>>();
    graphs.set(folder, graph.set(x, (graph.get(x) ?? new Map<string, string>()).set(y, `${from} imports ${to}`)));
  }
  return graphs;
}

/** Removes what imports nothing that is left, again and again: what remains is in a circle, or imports one. */
function circleIn(graph: Graph): string[] {
  const left = new Map(graph);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [child, imported] of left) if (![...imported.keys()].some((name) => left.has(name))) left.delete(child);
  }
  return [...left.values()].flatMap((imported) =>
    [...imported].flatMap(([name, example]) => (left.has(name) ? [example] : [])),
  );
}

/** Tests import everything, and what shows or measures the service uses their worlds. */
const ABOVE_ALL = new Set(['test', 'bench', 'dev']);

function importsOfProject(): [string, string][] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && !file.startsWith('test/histories/') && existsSync(path.join(root, file)));
  const all = new Set(files);
  return files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)].flatMap(
      ([, specifier = '']): [string, string][] => {
        const target = targetOf(file, specifier);
        const bothAbove = [file, target].every((name) => ABOVE_ALL.has(name.split('/')[0] ?? ''));
        return all.has(target) && !(bothAbove && file.split('/')[0] !== target.split('/')[0]) ? [[file, target]] : [];
      },
    ),
  );
}

test('a circle of folders is found, also by types alone and through a file', () => {
  const [graph] = graphsOf([
    ['a/b/x.ts', 'a/c/y.ts'],
    ['a/c/z.ts', 'a/w.ts'],
    ['a/w.ts', 'a/b/v.ts'],
    ['a/u.ts', 'a/c/y.ts'],
  ]).values();
  assert.deepEqual(circleIn(graph ?? new Map()).slice(0, 3), [
    'a/b/x.ts imports a/c/y.ts',
    'a/c/z.ts imports a/w.ts',
    'a/w.ts imports a/b/v.ts',
  ]);
  assert.deepEqual(circleIn(graphsOf([['a/b/x.ts', 'a/c/y.ts']]).get('a') ?? new Map()), []);
});

test('no folder has a circle among its files and subfolders', () => {
  const imports = importsOfProject();
  assert.ok(imports.length > 5_000, `${imports.length} imports`);
  const circles = [...graphsOf(imports)].flatMap(([folder, graph]) =>
    circleIn(graph).map((each) => `${folder}: ${each}`),
  );
  assert.deepEqual(circles, []);
});
