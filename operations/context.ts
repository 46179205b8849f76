/** What a command works with: settings, progress, connections that are closed after it, its answer. */
import { createLogger, type Logger, logDestination } from '#core/platform/log/logger.ts';
import { blobObjectsOf } from '#core/platform/objects/blob-objects.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings, type SettingName, type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { withSettingsFile } from '#core/platform/settings/settings-file.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import { type Database, openDatabase } from '#db/database.ts';
import type { CommandContext, SettingsWith } from './command.ts';
import { progressOn } from './progress.ts';
import { settingsOfStartedService } from './started-service.ts';

const STANDARD_ERROR = 2;
/** C0 but tab and line feed, DEL, C1, marks of direction: what others wrote must not control the terminal. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

type ContextOfAny = Omit<CommandContext, 'args' | 'options'>;

export interface OpenContext extends ContextOfAny {
  /** Closes what the command opened, the last first. */
  close(): Promise<void>;
}

/** @param json whether the answer is JSON */
export function openContext(
  variables: Readonly<Record<string, string | undefined>>,
  json: boolean,
  signal: AbortSignal,
): OpenContext {
  const progress = progressOn(process.stderr);
  const closing: (() => Promise<void>)[] = [];
  let environment: Readonly<Record<string, string>> | undefined;
  let read: Settings | undefined;
  let log: Logger | undefined;
  let services: Promise<Services> | undefined;

  function values(): Readonly<Record<string, string>> {
    if (environment !== undefined) return environment;
    const given = withSettingsFile(variables);
    // The value of this setting alone: the others may need those of the started service.
    const dataDir = readSettings({ DATA_DIR: given['DATA_DIR'] }).DATA_DIR;
    const started = settingsOfStartedService(dataDir);
    const { DATABASE_URL: url = started['DATABASE_URL'] } = given;
    // Settings of two installations are never mixed.
    environment = url === started['DATABASE_URL'] ? { ...started, ...given } : given;
    return environment;
  }
  function settings<Name extends SettingName = never>(...needed: readonly Name[]): SettingsWith<Name> {
    read ??= readSettings(values());
    const missing = needed.filter((name) => read?.[name] === undefined);
    if (missing.length > 0)
      throw new SettingsError([
        `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} needed: set ${missing.length > 1 ? 'them' : 'it'} as for the service, or run \`npm start\` with the same DATA_DIR`,
      ]);
    return read as SettingsWith<Name>; // those needed were found to be set
  }
  async function database(poolMax: number): Promise<Database> {
    const { DATABASE_URL } = settings('DATABASE_URL');
    await requirePostgres(DATABASE_URL);
    const db = await openDatabase({ url: DATABASE_URL, poolMax, objects: blobObjectsOf(settings()) });
    closing.push(() => db.close());
    return db;
  }
  async function open(): Promise<Services> {
    const all = settings('DATABASE_URL', 'SECRETS_KEYS', 'CREDENTIAL_PEPPER');
    await requirePostgres(all.DATABASE_URL);
    const opened = await openServices(all, context.log);
    closing.push(() => opened.close());
    return opened;
  }
  const context: OpenContext = {
    get environment() {
      return values();
    },
    progress,
    get log() {
      log ??= createLogger(settings().LOG_LEVEL, logDestination(STANDARD_ERROR));
      return log;
    },
    signal,
    settings,
    database,
    services() {
      services ??= open();
      return services;
    },
    output: (value, text) =>
      void process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text.replace(CONTROLS, '')}\n`),
    async close() {
      for (const each of closing.splice(0).toReversed()) await each();
    },
  };
  return context;
}
