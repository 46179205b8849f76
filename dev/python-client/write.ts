/**
 * Writes what of `python/src/agent_mailbox` is made from the OpenAPI document, and the synchronous client. The files are
 * committed, so that the package is built by Python alone; a test compares them.
 *
 *   npm run types:python
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentedEvents } from '#api/documents/documented-events.ts';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import type { RouteRow } from '#dev/route-coverage.ts';
import { routeRows } from '#dev/route-coverage-document.ts';
import { writeFileIfChanged } from '#dev/write-file.ts';
import { pythonModels } from './models.ts';
import { operationsOf } from './operations-of.ts';
import { pythonResources } from './resources.ts';
import { synchronous } from './synchronous.ts';

const FOLDER = fileURLToPath(new URL('../../python/src/agent_mailbox', import.meta.url));
const ASYNC = path.join(FOLDER, '_async');
/** Written by hand for both: they differ in more than `async`. */
const TWICE_BY_HAND = new Set(['file_body.py']);

/** Each file with its text, as the routes have it now. */
export function pythonFiles(rows: readonly RouteRow[]): ReadonlyMap<string, string> {
  const document = currentOpenApi(routes, documentedEvents, 'http://localhost');
  const operations = operationsOf(document);
  const resources = pythonResources(document, operations, rows);
  const files = new Map([
    ['models.py', pythonModels(document, operations)],
    ['_async/resources.py', resources],
    ['_sync/resources.py', synchronous(resources)],
  ]);
  for (const name of readdirSync(ASYNC))
    if (name.endsWith('.py') && !TWICE_BY_HAND.has(name) && name !== 'resources.py')
      files.set(`_sync/${name}`, synchronous(readFileSync(path.join(ASYNC, name), 'utf8')));
  return files;
}

/** The committed files that are not those of the routes. */
export const outdatedPythonFiles = (rows: readonly RouteRow[]): string[] =>
  [...pythonFiles(rows)]
    .filter(([name, text]) => readFileSync(path.join(FOLDER, name), 'utf8') !== text)
    .map(([name]) => name);

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of pythonFiles(routeRows())) writeFileIfChanged(path.join(FOLDER, name), text);
