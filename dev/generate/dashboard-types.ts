/**
 * Writes `dashboard/api/openapi.ts`: the types of the API, made from its OpenAPI document. The file is not committed.
 *
 *   npm run types:dashboard      the checks of `npm test` do the same
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { writeFileIfChanged } from '#core/platform/write-file.ts';

const written = fileURLToPath(new URL('../../dashboard/api/openapi.ts', import.meta.url));
const requireOfDashboard = createRequire(new URL('../../dashboard/package.json', import.meta.url));

/** Writes the types, unless they are there already: an unchanged file does not make an editor read it again. */
export function writeDashboardTypes(): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-types-'));
  try {
    const document = path.join(folder, 'openapi.json');
    const types = path.join(folder, 'openapi.ts');
    writeFileSync(document, JSON.stringify(currentOpenApi(routes, webhookEvents, 'http://localhost')));
    const manifest = requireOfDashboard.resolve('openapi-typescript/package.json');
    execFileSync(process.execPath, [path.join(path.dirname(manifest), 'bin/cli.js'), document, '--output', types], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    writeFileIfChanged(written, readFileSync(types, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDashboardTypes();
