/**
 * Builds the published packs of tools for agents, as JavaScript with types, because Node does not run TypeScript in
 * packages. They depend on the package of the client (`npm run build:client`).
 *
 *   npm run build:tools [-- folder]        default: dist/tools; then `npm publish dist/tools`
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = path.join(root, 'integrations/tools');
const folder = path.resolve(root, process.argv[2] ?? 'dist/tools');

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
}

// It is emptied: never a folder with anything but an earlier package.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, 'src/mailbox-tools.js'))) {
  process.stderr.write(`${folder} is not empty and contains no tools that were built before. Give another folder.\n`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.tools.json', '--outDir', folder], {
  cwd: root,
  stdio: 'inherit',
});
cpSync(path.join(folder, 'integrations/tools/src'), path.join(folder, 'src'), { recursive: true });
// Compiled because the tools import it; published alone.
for (const each of ['client', 'integrations']) rmSync(path.join(folder, each), { recursive: true, force: true });
const manifest = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as Manifest;
const exports = Object.fromEntries(
  Object.entries(manifest.exports).map(([key, file]) => [
    key,
    { types: file.replace(/\.ts$/, '.d.ts'), default: file.replace(/\.ts$/, '.js') },
  ]),
);
const written = { ...manifest, exports, private: undefined, devDependencies: undefined };
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
