/**
 * Builds the published client, as JavaScript with types, because Node does not run TypeScript in packages. It is compiled
 * for runtimes that have `fetch` and WebCrypto, and nothing of Node.
 *
 *   npm run build:client [-- folder]       default: dist/client; then `npm publish dist/client`
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = path.join(root, 'client');
const folder = path.resolve(root, process.argv[2] ?? 'dist/client');

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

const javascript = (file: string): string => file.replace(/\.ts$/, '.js');

// It is emptied: never a folder with anything but an earlier package.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'organization-client.js'))) {
  process.stderr.write(`${folder} is not empty and contains no client that was built before. Give another folder.\n`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.client.json', '--outDir', folder], {
  cwd: root,
  stdio: 'inherit',
});
const manifest = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as Manifest;
const exports = Object.fromEntries(
  Object.entries(manifest.exports).map(([key, file]) => [
    key,
    { types: file.replace(/\.ts$/, '.d.ts'), default: javascript(file) },
  ]),
);
const imports = Object.fromEntries(Object.entries(manifest.imports).map(([key, file]) => [key, javascript(file)]));
const written = { ...manifest, exports, imports, private: undefined };
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
