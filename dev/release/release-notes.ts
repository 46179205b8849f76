/** Prints what CHANGELOG.md says about a version: `node dev/release/release-notes.ts 0.2.0`. */
import { readFileSync } from 'node:fs';
import { notesOf } from './changelog.ts';

process.stdout.write(`${notesOf(readFileSync('CHANGELOG.md', 'utf8'), process.argv[2] ?? '')}\n`);
