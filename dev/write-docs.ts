/** `npm run docs`: writes the documents that are made from code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asyncApiFile } from './asyncapi-file.ts';
import { configurationDocument } from './configuration-document.ts';
import { withMcpSetups } from './mcp-setups-document.ts';
import { coverageDocument, routeRows, withPython } from './route-coverage-document.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
const write = (name: string, text: string): void => writeFileSync(fileOf(name), text);

write('asyncapi.json', asyncApiFile());
write('configuration.md', configurationDocument());
write('coverage.md', coverageDocument(withPython(routeRows())));
write('mcp.md', withMcpSetups(readFileSync(fileOf('mcp.md'), 'utf8')));
