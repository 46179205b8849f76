#!/usr/bin/env node
// The command of the operators from a clone and in the image, with any Node version: `npx agent-mailbox-admin …`.
import { fileURLToPath } from 'node:url';

process.argv.splice(2, 0, fileURLToPath(new URL('admin.ts', import.meta.url)));
await import('../dev/start.mjs');
