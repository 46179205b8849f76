#!/usr/bin/env node
// The command from a clone of the project, with any Node version: `npx agent-mailbox …`, `npm run -s cli -- …`.
import { fileURLToPath } from 'node:url';

process.argv.splice(2, 0, fileURLToPath(new URL('main.ts', import.meta.url)));
await import('../dev/start.mjs');
