/**
 * Builds the pages of the documentation into `docs/dist`, unless they were built from the same files before.
 *
 *   npm run build:docs      `npm start` and the image do the same
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAsAsked, buildInOwnProcess, buildWhole, type OnBuildProgress } from './build-whole.ts';

const PROGRAM = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('../..', import.meta.url));
const result = path.join(root, 'docs/dist');

/** Everything that the pages are made from: documents, the table of routes with its schemas, commands, and this program. */
const SOURCES = [
  '*.md',
  '{docs,client,python,bench,packages,examples}/**/*.md',
  '{domain,core,mailstore,sending,administration,api,client,cli,mcp}/**/*.ts',
  'dev/documentation/**/*.{ts,js,css}',
  'dashboard/public/*',
  'package-lock.json',
];

/** Of everything the pages are made from. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: (name) => ['node_modules', 'dist'].includes(path.basename(name)) }),
  );
  for (const file of files.toSorted())
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
 * @throws if a document names a page that does not exist
 */
export const buildDocumentation = (onProgress: OnBuildProgress = () => {}): Promise<void> =>
  buildWhole(result, sourceHash(), (folder) => buildInOwnProcess(PROGRAM, folder, onProgress));

async function build(folder: string, onProgress: OnBuildProgress): Promise<void> {
  onProgress('reading documents');
  const { writeDocumentation } = await import('#dev/documentation/write-documentation.ts');
  await writeDocumentation(root, folder, onProgress);
}

await buildAsAsked(PROGRAM, build, buildDocumentation);
