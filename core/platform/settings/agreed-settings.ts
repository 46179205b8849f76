/**
 * Settings that all processes of an installation must have alike, because a process with another value would work beside
 * the others without an error: its workflows would run in another namespace, its credentials would be valid nowhere else.
 * The database has the values; `migrate` and `npm start` write them, every process compares its own with them before it
 * does anything else.
 */
import { createHmac } from 'node:crypto';
import type { Sql } from '#db/database.ts';
import { requireNoOpenRestore } from './restore-state.ts';
import { type Settings, SettingsError } from './settings.ts';

/** The argument of `migrate` and `npm start` that confirms a change. */
export const ACCEPT_CHANGED_SETTINGS = '--accept-changed-settings';

const FINGERPRINT_CHARACTERS = 16;

/** A secret of at least 32 random bytes cannot be found from it. */
const fingerprint = (secret: Uint8Array): string =>
  createHmac('sha256', secret).update('agent-mailbox').digest('hex').slice(0, FINGERPRINT_CHARACTERS);

type AgreedName = 'TEMPORAL_NAMESPACE' | 'TEMPORAL_TASK_QUEUE' | 'CREDENTIAL_PEPPER' | 'MAIL_DOMAIN';
export type AgreedSettings = Partial<Pick<Settings, AgreedName>>;

interface AgreedSetting {
  /** What another value would do; undefined: it may be changed by starting with the new value. */
  readonly hazard?: string;
  /** Text form that is stored and compared. */
  read(settings: AgreedSettings): string | undefined;
  readonly secret?: true;
}

const AGREED: Readonly<Record<AgreedName, AgreedSetting>> = {
  TEMPORAL_NAMESPACE: {
    hazard: 'workflows that other processes started would never continue here',
    read: ({ TEMPORAL_NAMESPACE }) => TEMPORAL_NAMESPACE,
  },
  TEMPORAL_TASK_QUEUE: {
    hazard: 'workflows that other processes started would never continue here',
    read: ({ TEMPORAL_TASK_QUEUE }) => TEMPORAL_TASK_QUEUE,
  },
  CREDENTIAL_PEPPER: {
    hazard: 'no session, key or token of this database would be valid',
    secret: true,
    read: ({ CREDENTIAL_PEPPER }) => CREDENTIAL_PEPPER && fingerprint(CREDENTIAL_PEPPER),
  },
  MAIL_DOMAIN: { read: ({ MAIL_DOMAIN }) => MAIL_DOMAIN },
};

async function stored(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const [table] = await sql.query<{ there: boolean }>(
    `select to_regclass('installation_setting') is not null as there`,
  );
  if (table?.there !== true) return new Map();
  const rows = await sql.query<{ name: string; value: string }>('select name, value from installation_setting');
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Whether `migrate` or `npm start` has written the settings of this database. */
export const hasAgreedSettings = async (sql: Sql): Promise<boolean> =>
  [...(await stored(sql)).keys()].some((name) => name in AGREED);

/** Whether this is the namespace in which the installation was set up. */
export const isAgreedNamespace = async (sql: Sql, { TEMPORAL_NAMESPACE }: Pick<Settings, 'TEMPORAL_NAMESPACE'>) =>
  (await stored(sql)).get('TEMPORAL_NAMESPACE') === TEMPORAL_NAMESPACE;

function differing(settings: AgreedSettings, values: ReadonlyMap<string, string>, withHazard: boolean): string[] {
  return Object.entries(AGREED).flatMap(([name, { hazard, secret, read }]) => {
    const [own, theirs] = [read(settings), values.get(name)];
    if (own === undefined || theirs === undefined || own === theirs || (withHazard && hazard === undefined)) return [];
    const difference = secret
      ? `${name} is not the one that this database was set up with`
      : `${name} is "${own}", but this database was set up with "${theirs}"`;
    return [hazard === undefined ? difference : `${difference}: ${hazard}`];
  });
}

/**
 * For processes: compares, and changes nothing. What the database does not know, or `settings` lacks, is not compared.
 *
 * @throws {SettingsError} if a setting differs, or the database is being restored
 */
export async function requireAgreedSettings(sql: Sql, settings: AgreedSettings): Promise<void> {
  await requireNoOpenRestore(sql);
  const problems = differing(settings, await stored(sql), false);
  if (problems.length > 0)
    throw new SettingsError(
      problems.map((problem) => `${problem}. Correct it; a wanted change begins with \`npm run migrate\``),
    );
}

/**
 * For `migrate` and `npm start`, before they change or create anything: a harmful difference needs a confirmation.
 *
 * @throws {SettingsError} if a setting differs and `accept` is false, or the database is being restored
 */
export async function requireAcceptedSettings(sql: Sql, settings: AgreedSettings, accept: boolean): Promise<void> {
  await requireNoOpenRestore(sql);
  if (accept) return;
  const problems = differing(settings, await stored(sql), true);
  if (problems.length > 0)
    throw new SettingsError(
      problems.map(
        (problem) =>
          `${problem}. Correct it; if the change is wanted, stop all processes and start this command once with \`-- ${ACCEPT_CHANGED_SETTINGS}\``,
      ),
    );
}

/** Writes the settings for the other processes, after `requireAcceptedSettings` and the migrations. */
export async function storeAgreedSettings(sql: Sql, settings: AgreedSettings): Promise<void> {
  await write(
    sql,
    Object.entries(AGREED).flatMap(([name, { read }]) => {
      const value = read(settings);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

async function write(sql: Sql, values: readonly (readonly [name: string, value: string])[]): Promise<void> {
  await sql.query(
    `insert into installation_setting (name, value) select * from unnest($1::text[], $2::text[])
     on conflict (name) do update set value = excluded.value, changed_at = now()
      where installation_setting.value <> excluded.value`,
    [values.map(([name]) => name), values.map(([, value]) => value)],
  );
}

const NAMESPACE_ID = 'TEMPORAL_NAMESPACE_ID';
const ADDRESS = 'TEMPORAL_ADDRESS';

/** The Temporal of an installation. One server can have several addresses, so the id of the namespace is compared. */
export interface AgreedTemporal {
  readonly namespaceId: string;
  /** `host:port` at which the namespace has this id. */
  readonly address: string;
}

/** @returns undefined: not known, e.g. before the first `migrate` of a version that writes it */
export async function agreedTemporal(sql: Sql): Promise<AgreedTemporal | undefined> {
  const values = await stored(sql);
  const [namespaceId, address] = [values.get(NAMESPACE_ID), values.get(ADDRESS)];
  return namespaceId === undefined || address === undefined ? undefined : { namespaceId, address };
}

/** For `migrate`, `npm start`, and a worker whose namespace was made anew. */
export const storeAgreedTemporal = (sql: Sql, { namespaceId, address }: AgreedTemporal): Promise<void> =>
  write(sql, [
    [NAMESPACE_ID, namespaceId],
    [ADDRESS, address],
  ]);

/** After a restore any Temporal will do: every workflow follows from the rows. Those who start store theirs. */
export const forgetAgreedTemporal = (sql: Sql): Promise<unknown> =>
  sql.query('delete from installation_setting where name = any($1::text[])', [[NAMESPACE_ID, ADDRESS]]);

/**
 * Another id at the same address is the same server, which has lost its state.
 *
 * @param found the namespace at the address of a process; without an id: there is none
 * @returns what is wrong and what to do; undefined: it is the Temporal of the installation
 */
export function otherTemporal(
  agreed: AgreedTemporal | undefined,
  found: { readonly namespaceId: string | undefined; readonly address: string },
): string | undefined {
  if (agreed === undefined || found.namespaceId === agreed.namespaceId || found.address === agreed.address)
    return undefined;
  return (
    `TEMPORAL_ADDRESS is "${found.address}", which is another Temporal than the one at "${agreed.address}" that this ` +
    'database was set up with: workflows that are started in one are not run in the other. Correct TEMPORAL_ADDRESS; ' +
    'if the change is wanted, stop all processes and run `npm run migrate` (or `npm start`) once with ' +
    `\`-- ${ACCEPT_CHANGED_SETTINGS}\``
  );
}
