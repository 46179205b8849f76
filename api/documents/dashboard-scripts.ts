/**
 * Which scripts a page of the dashboard needs beside those of the document. The document names them, so that the
 * browser fetches them beside the first script and not after it has run.
 */
import { existsSync, readFileSync } from 'node:fs';

/** A chunk in the manifest of the build (`build.manifest` of Vite). */
interface Chunk {
  readonly file: string;
  /** Keys of the chunks that it needs before it runs. */
  readonly imports?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

const DOCUMENT = 'index.html';

/**
 * @param manifestFile of the build; without it nothing is named
 * @returns the lines of HTML for the sources of a page, such as `scenes/approvals/page.tsx`
 */
export function pagePreloads(manifestFile: string): (sources: readonly string[]) => string {
  if (!existsSync(manifestFile)) return () => '';
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest;
  const ofDocument = chunksOf(manifest, [DOCUMENT]);
  return (sources) =>
    [...chunksOf(manifest, sources)]
      .filter((file) => !ofDocument.has(file))
      .map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`)
      .join('\n    ');
}

/** Files of the chunks and of everything they import. */
function chunksOf(manifest: Manifest, keys: readonly string[]): Set<string> {
  const files = new Set<string>();
  const open = [...keys];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    const chunk = manifest[key];
    // A build of other sources than these lacks some pages: they are loaded later, by the first script.
    if (chunk === undefined || files.has(chunk.file)) continue;
    files.add(chunk.file);
    open.push(...(chunk.imports ?? []));
  }
  return files;
}
