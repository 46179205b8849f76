#!/usr/bin/env node
// The command from a clone of the project, with any Node version: `npx agent-mailbox …`, `npm run -s cli -- …`.
import * as modules from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// TypeScript without its types is kept between two commands. In a folder of this person: what others could write to
// would be run.
const { XDG_CACHE_HOME: cacheHome = '' } = process.env;
const cache = join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache'), 'agent-mailbox', 'compiled');
if (process.env.NODE_COMPILE_CACHE === undefined) {
  // For a newer Node that is started instead of this one.
  process.env.NODE_COMPILE_CACHE = cache;
  if (modules.enableCompileCache) modules.enableCompileCache(cache);
}
process.argv.splice(2, 0, fileURLToPath(new URL('main.ts', import.meta.url)));
await import('../dev/start.mjs');
