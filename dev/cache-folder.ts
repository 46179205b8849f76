import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Folder for files that are downloaded or built once per user and shared by all clones, per the XDG base directory
 * rules.
 */
export const cacheFolder = (environment: NodeJS.ProcessEnv = process.env): string =>
  path.join(environment['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'agent-mailbox');
