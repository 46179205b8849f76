/**
 * `npm run generate`: writes what is made from code and committed (docs/adr/0041): the types of the client, the Python
 * package, the definitions of the tool packs, and documents. A file that is right is not written. Tests compare them.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeFileIfChanged } from '#core/platform/write-file.ts';
import { chartFiles } from './chart-files.ts';
import { CLIENT_TYPES, clientTypes } from './client-types.ts';
import { commandsDocument } from './commands-document.ts';
import { asyncApiFile, configurationDocument, withMcpSetups } from './generated-documents.ts';
import { boardFile } from './grafana-board.ts';
import { metricsDocument } from './metrics-document.ts';
import { pythonFiles } from './python-client/python-files.ts';
import { coverageDocument, routeRows, withPython } from './route-coverage.ts';
import { toolDefinitionFiles } from './tool-definitions.ts';

const documentNamed = (name: string): string => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));

writeFileIfChanged(CLIENT_TYPES, clientTypes());
for (const [file, text] of await toolDefinitionFiles()) writeFileIfChanged(file, text);
writeFileIfChanged(documentNamed('asyncapi.json'), asyncApiFile());
writeFileIfChanged(documentNamed('configuration.md'), configurationDocument());
writeFileIfChanged(documentNamed('operations/commands.md'), await commandsDocument());
writeFileIfChanged(documentNamed('operations/metrics.md'), metricsDocument());
writeFileIfChanged(fileURLToPath(new URL('../../deploy/grafana/board.json', import.meta.url)), boardFile());
for (const [file, text] of chartFiles()) writeFileIfChanged(file, text);
const mcp = documentNamed('mcp.md');
writeFileIfChanged(mcp, withMcpSetups(readFileSync(mcp, 'utf8')));
const rows = routeRows();
for (const [file, text] of pythonFiles(rows)) writeFileIfChanged(file, text);
// Last: it names the methods of the Python package.
writeFileIfChanged(documentNamed('coverage.md'), coverageDocument(withPython(rows)));
