import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { type MailLog, openMailLog } from '#core/platform/mail-log/mail-log.ts';
import { blobObjectsOf } from '#core/platform/objects/blob-objects.ts';
import { type SealedSecrets, sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { connectionName, type ProcessName } from './database-connections.ts';
import { type DeliveriesDue, openDeliveriesDue } from './deliveries-due.ts';
import { openLanesElsewhere } from './lanes-elsewhere.ts';

/** The services that every use case and entry point uses. One per process. */
export interface Services {
  readonly settings: Settings;
  readonly log: Logger;
  readonly db: Database;
  readonly secrets: SealedSecrets;
  /** Pepper of the credential hashes. */
  readonly pepper: Uint8Array;
  /** Woken after a commit that left deliveries to dispatch. */
  readonly deliveriesDue: DeliveriesDue;
  readonly mailLog: MailLog;
  /** Milliseconds since 1970. Injected so that tests can move it. */
  readonly now: () => number;
  close(): Promise<void>;
}

/**
 * Opens what a process needs. The launcher first adds the values it generated (database address, keys).
 *
 * @param process of the service; undefined: a program beside it
 * @throws {SettingsError} if a setting is missing that only `npm start` generates
 */
export async function openServices(settings: Settings, log: Logger, process?: ProcessName): Promise<Services> {
  const missing = (['DATABASE_URL', 'SECRETS_KEYS', 'CREDENTIAL_PEPPER'] as const).filter((name) => !settings[name]);
  const { DATABASE_URL, SECRETS_KEYS, CREDENTIAL_PEPPER } = settings;
  if (DATABASE_URL === undefined || SECRETS_KEYS === undefined || CREDENTIAL_PEPPER === undefined)
    throw new SettingsError(missing.map((name) => `${name} is not set; only \`npm start\` generates one`));
  const db = await openDatabase({
    url: DATABASE_URL,
    objects: blobObjectsOf(settings),
    poolMax: settings.DATABASE_POOL_MAX,
    ...(process === undefined ? {} : { name: connectionName(process, settings.DATABASE_POOL_MAX) }),
    // One for each connection of the pool.
    onError: (error) => outageLog(log, 'PostgreSQL').noticed(error),
  });
  const deliveriesDue = openDeliveriesDue(db, DATABASE_URL, log);
  const lanesElsewhere = settings.WEBHOOK_FAST_LANE === 'on' ? openLanesElsewhere(db, deliveriesDue) : undefined;
  const mailLog = openMailLog(log, db, Date.now);
  return {
    settings,
    log,
    db,
    secrets: sealedSecrets(SECRETS_KEYS),
    pepper: CREDENTIAL_PEPPER,
    deliveriesDue,
    mailLog,
    now: Date.now,
    async close() {
      await mailLog.close();
      lanesElsewhere?.close();
      await deliveriesDue.close();
      await db.close();
    },
  };
}
