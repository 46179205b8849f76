/**
 * Builds the dashboard's pages into `dashboard/dist`, unless they were built from the same files before.
 *
 *   npm run build:dashboard      `npm start` and the image do the same
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAsAsked, buildInOwnProcess, buildWhole, compressFiles, type OnBuildProgress } from './build-whole.ts';

const PROGRAM = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('../..', import.meta.url));
const source = path.join(root, 'dashboard');
const result = path.join(source, 'dist');

/** Of everything the pages are made from, the versions of the packages included. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const own = globSync('dashboard/**/*.{ts,tsx,css,html,svg,json}', {
    cwd: root,
    exclude: (name) => ['node_modules', 'dist'].includes(path.basename(name)),
  });
  // Files outside their folder that the pages use, see `client/snippets.ts`.
  const others = [
    ...globSync('client/*.ts', { cwd: root }),
    'domain/organizations/audit-actions.ts',
    'package-lock.json',
  ];
  for (const file of [...own, ...others].toSorted())
    hash
      .update(`${file}\n`)
      .update(readFileSync(path.join(root, file)))
      .update('\n');
  return hash.digest('hex');
}

/**
 * Makes sure that the pages are built.
 *
 * @param onProgress called during a build, which takes some seconds; never if they are built
 * @throws if a page does not compile
 */
export const buildDashboard = (onProgress: OnBuildProgress = () => {}): Promise<void> =>
  buildWhole(result, sourceHash(), (folder) => buildInOwnProcess(PROGRAM, folder, onProgress));

async function build(folder: string, onProgress: OnBuildProgress): Promise<void> {
  onProgress('reading modules');
  const vite = await import('vite');
  let modules = 0;
  await vite.build({
    root: source,
    configFile: path.join(source, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
    plugins: [{ name: 'progress', moduleParsed: () => onProgress(`reading modules: ${++modules}`) }],
  });
  await compressFiles(folder, 'assets/*.{js,css}', onProgress);
}

await buildAsAsked(PROGRAM, build, buildDashboard);
