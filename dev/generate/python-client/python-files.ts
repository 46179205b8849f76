/**
 * What of `python/src/agent_mailbox` is made from the OpenAPI document. The files are committed, so that the
 * package is built by Python alone; a test compares them. The build makes the synchronous client (`hatch_build.py`).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import type { RouteRow } from '#dev/generate/route-row.ts';
import { pythonModels } from './models.ts';
import { operationsOf } from './operations-of.ts';
import { pythonResources } from './resources.ts';

const FOLDER = fileURLToPath(new URL('../../../python/src/agent_mailbox', import.meta.url));

/** Each file with its text, as the routes have it now. */
export function pythonFiles(rows: readonly RouteRow[]): ReadonlyMap<string, string> {
  const document = currentOpenApi(routes, webhookEvents, 'http://localhost');
  const operations = operationsOf(document);
  return new Map([
    [path.join(FOLDER, 'models.py'), pythonModels(document, operations)],
    [path.join(FOLDER, '_async/resources.py'), pythonResources(document, operations, rows)],
  ]);
}

/** The committed files that are not those of the routes. */
export const outdatedPythonFiles = (rows: readonly RouteRow[]): string[] =>
  [...pythonFiles(rows)].filter(([file, text]) => readFileSync(file, 'utf8') !== text).map(([file]) => file);
