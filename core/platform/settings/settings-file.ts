/**
 * Settings from a file beside the environment: AGENT_MAILBOX_ENV, else `DATA_DIR/settings.env` if it exists, which
 * `agent-mailbox-admin setup` writes. Lines `NAME=value`, as systemd (`EnvironmentFile=`), compose (`env_file:`) and Node
 * read them. Environment variables take precedence.
 *
 * Settings of two installations are never mixed: the file in DATA_DIR is not read when the environment has another
 * DATABASE_URL.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { readSettings, SETTINGS, SettingsError } from './settings.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

const NAME = 'settings.env';

/** Those that are set: an empty variable counts as unset. */
export const setVariables = (variables: Variables): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => (entry[1]?.trim() ?? '') !== ''),
  );

/** Where the file is, whether it exists or not. @throws {SettingsError} if DATA_DIR is wrong */
export function settingsFileOf(variables: Variables): { readonly file: string; readonly named: boolean } {
  const { AGENT_MAILBOX_ENV: named, DATA_DIR } = setVariables(variables);
  if (named !== undefined) return { file: path.resolve(named), named: true };
  return { file: path.join(readSettings({ DATA_DIR }).DATA_DIR, NAME), named: false };
}

/** The values in a file, also of names that are no settings. @throws {SettingsError} if it cannot be read */
export function readSettingsFile(file: string): Record<string, string> {
  try {
    return setVariables(parseEnv(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new SettingsError([`${file} cannot be read: ${reasonOf(error)}`]);
  }
}

/** The variables that are set, and below them those of the file. @throws {SettingsError} */
export function withSettingsFile(variables: Variables): Record<string, string> {
  const given = setVariables(variables);
  const { file, named } = settingsFileOf(given);
  if (!named && !existsSync(file)) return given;
  const values = Object.fromEntries(Object.entries(readSettingsFile(file)).filter(([name]) => name in SETTINGS));
  const { DATABASE_URL } = given;
  return !named && DATABASE_URL !== undefined && DATABASE_URL !== values['DATABASE_URL']
    ? given
    : { ...values, ...given };
}

/** One line of the file for each setting. @throws {SettingsError} if a value cannot be written so that all can read it */
export function settingsLines(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => {
    if (/^[\w@%+=:,./-]*$/.test(value)) return `${name}=${value}`;
    if (/['\p{Cc}]/u.test(value))
      throw new SettingsError([`${name} contains a quote or a control character, which a settings file cannot have`]);
    return `${name}='${value}'`;
  });
}
