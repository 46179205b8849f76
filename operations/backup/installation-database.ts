/**
 * The database that a command works on: that of the settings, or that of a running `npm start`. If there is neither, the
 * embedded one of DATA_DIR is started for the time of the command, where there is a launcher: in a clone, not in the image.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { requirePostgres } from '#core/process/dependencies.ts';
import type { CommandContext } from '#operations/command.ts';

interface StartedDatabase {
  readonly url: string;
  close(): Promise<void>;
}

interface Launcher {
  startStoppedDatabase(dataDir: string, onProgress: (text: string) => void): Promise<StartedDatabase>;
  startScratchDatabase(onProgress: (text: string) => void): Promise<StartedDatabase>;
}

// No literal: the image is made of what its programs import.
const LAUNCHER = path.resolve(import.meta.dirname, '../../dev/launcher/stopped-database.ts');

/** @returns undefined: this installation has no launcher */
const launcher = async (): Promise<Launcher | undefined> =>
  existsSync(LAUNCHER) ? ((await import(pathToFileURL(LAUNCHER).href)) as Launcher) : undefined;

type Context = Pick<CommandContext, 'environment' | 'settings' | 'progress'>;

/**
 * @param ifNone `create`: an embedded database is made in DATA_DIR; `scratch`: one that is removed afterwards
 * @throws {SettingsError} if there is no database
 */
export async function withInstallationDatabase<Result>(
  { environment, settings, progress }: Context,
  ifNone: 'refuse' | 'create' | 'scratch',
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const given = environment['DATABASE_URL'];
  const { DATA_DIR } = settings();
  const cluster = path.join(DATA_DIR, 'postgres', 'data');
  // A killed `npm start` leaves its file.
  const mayBeOver = !process.env['DATABASE_URL'] && existsSync(cluster);
  if (given !== undefined)
    try {
      await requirePostgres(given);
      return await work(given);
    } catch (error) {
      if (!mayBeOver || (await isUsable(given))) throw error;
    }
  const started = await launcher();
  if (started === undefined || (ifNone === 'refuse' && !existsSync(cluster)))
    return work(settings('DATABASE_URL').DATABASE_URL);
  const server = await progress.step('embedded PostgreSQL', (note) =>
    ifNone === 'scratch' ? started.startScratchDatabase(note) : started.startStoppedDatabase(DATA_DIR, note),
  );
  try {
    return await work(server.url);
  } finally {
    await server.close();
  }
}

const isUsable = (url: string): Promise<boolean> =>
  requirePostgres(url).then(
    () => true,
    () => false,
  );
