/**
 * `npm run reseal`: seals all secrets again with the newest key, the first of SECRETS_KEYS, and says which of the others
 * can be removed. Safe while the service runs, and to interrupt and run again.
 *
 * Takes DATABASE_URL and SECRETS_KEYS as for the service. If unset, those of a running `npm start` in DATA_DIR are
 * used.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { requirePostgres } from '#core/process/dependencies.ts';
import { reseal } from '#core/reseal/reseal.ts';
import { openDatabase } from '#db/database.ts';
import { progressOn } from './progress.ts';

const POOL_MAX = 2;
const progress = progressOn(process.stderr);

/** Values of `npm start` in DATA_DIR, as environment variables. */
function ofStartedService(dataDir: string): Record<string, string> {
  const read = (name: string): Record<string, unknown> => {
    const file = path.join(dataDir, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
  };
  const [{ databaseUrl }, { secretsKeys }] = [read('service.json'), read('secrets.json')];
  return {
    ...(typeof databaseUrl === 'string' ? { DATABASE_URL: databaseUrl } : {}),
    ...(typeof secretsKeys === 'string' ? { SECRETS_KEYS: secretsKeys } : {}),
  };
}

async function run(): Promise<void> {
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value?.trim()));
  const { DATABASE_URL, SECRETS_KEYS } = readSettings({
    ...ofStartedService(readSettings(process.env).DATA_DIR),
    ...given,
  });
  if (DATABASE_URL === undefined || SECRETS_KEYS === undefined)
    throw new SettingsError([
      'DATABASE_URL and SECRETS_KEYS are needed: set them as for the service, or run `npm start` with the same DATA_DIR',
    ]);
  await requirePostgres(DATABASE_URL);
  const secrets = sealedSecrets(SECRETS_KEYS);
  const db = await openDatabase({ url: DATABASE_URL, poolMax: POOL_MAX });
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  try {
    const { resealed, failures, left } = await progress.step(`Sealing with key "${secrets.newestKeyId}"`, (note) =>
      reseal({ db, secrets }, { signal: stopping.signal, onProgress: (count) => note(`${count} values`) }),
    );
    process.stdout.write(`${resealed} values were sealed again with key "${secrets.newestKeyId}".\n`);
    for (const failure of failures) process.stdout.write(`could not be opened: ${failure}\n`);
    for (const [id, count] of left)
      process.stdout.write(
        secrets.keyIds.includes(id)
          ? `Key "${id}" is still needed by ${count} values: keep it and run this again.\n`
          : `Key "${id}" is not in SECRETS_KEYS, but ${count} values need it: add it after the first and run this again.\n`,
      );
    for (const id of secrets.keyIds.slice(1))
      if (!left.has(id))
        process.stdout.write(
          `Key "${id}" is not used any more. Once every process runs with "${secrets.newestKeyId}" in front, it can be removed from SECRETS_KEYS.\n`,
        );
    if (left.size > 0 || stopping.signal.aborted) process.exitCode = 1;
  } finally {
    await db.close();
  }
}

try {
  await run();
} catch (error) {
  process.stderr.write(`\nreseal: ${reasonOf(error)}\n`);
  process.exitCode = 1;
}
