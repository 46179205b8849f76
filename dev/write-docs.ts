/** `npm run docs`: writes the documents that are made from code. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configurationDocument } from './configuration-document.ts';

writeFileSync(fileURLToPath(new URL('../docs/configuration.md', import.meta.url)), configurationDocument());
