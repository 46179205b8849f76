/**
 * Builds the packages of `packages/` for publishing, as JavaScript with types, because Node does not run TypeScript in
 * packages; and the nodes for n8n.
 *
 *   npm run build:packages [-- folder]     default: dist/packages; then `npm publish dist/packages/<name>` of each,
 *                                          mime-structure and mail-store first, because the others depend on them
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildN8nPackage, N8N_PACKAGE } from './build-n8n-package.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.resolve(root, process.argv[2] ?? 'dist/packages');

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly private?: boolean;
}

/** What a built package does not need. */
const NOT_PUBLISHED = ['scripts', 'devDependencies', 'private'];
/** The oldest Node that the packages of others which they use support. Their TypeScript needs a later one. */
const NODE = '>=20.19';

const javascript = (file: string): string => file.replace(/\.ts$/, '.js');
const types = (file: string): string => file.replace(/\.ts$/, '.d.ts');

// It is emptied: never a folder with anything but earlier packages.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'imap/src/serve.js'))) {
  process.stderr.write(
    `${folder} is not empty and contains no packages that were built before. Give another folder.\n`,
  );
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.packages.json', '--outDir', folder], {
  cwd: root,
  stdio: 'inherit',
});
for (const name of readdirSync(folder)) {
  const source = path.join(root, 'packages', name);
  const built = path.join(folder, name);
  const manifest = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as Manifest;
  const { imports } = manifest;
  if (manifest.private === true) throw new Error(`packages/${name} is private and cannot be published`);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([key, file]) => [key, { types: types(file), default: javascript(file) }]),
  );
  const own = Object.fromEntries(Object.entries(imports ?? {}).map(([key, file]) => [key, javascript(file)]));
  const published = Object.fromEntries(Object.entries(manifest).filter(([key]) => !NOT_PUBLISHED.includes(key)));
  const written = {
    ...published,
    engines: { node: NODE },
    exports,
    ...(imports === undefined ? {} : { imports: own }),
  };
  writeFileSync(path.join(built, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
  copyFileSync(path.join(root, 'LICENSE'), path.join(built, 'LICENSE'));
  copyFileSync(path.join(source, 'README.md'), path.join(built, 'README.md'));
}
buildN8nPackage(path.join(folder, N8N_PACKAGE));
