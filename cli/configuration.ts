/**
 * What `login` keeps: `$XDG_CONFIG_HOME/agent-mailbox/config.json` (default `~/.config`), readable by its owner only,
 * since it holds mailbox tokens. No keychain: there is none where agents run.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Connection } from '../client/index.ts';
import { CommandError, EXIT } from './exit-codes.ts';

/** A mailbox on this machine. */
export interface Profile {
  readonly url: string;
  readonly token: string;
  readonly mailboxId: string;
  readonly address: string;
  /** Settings for mail clients, as they were at the login. */
  readonly connection: Connection;
}

interface Configuration {
  readonly version: 1;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export const DEFAULT_PROFILE = 'default';
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FOLDER = 'agent-mailbox';
const OWNER_ONLY = 0o600;

const xdgFolder = (variable: string, fallback: string): string => {
  const given = process.env[variable];
  // The specification has relative paths ignored.
  return path.join(given !== undefined && path.isAbsolute(given) ? given : path.join(homedir(), fallback), FOLDER);
};

export const configurationFile = (): string => path.join(xdgFolder('XDG_CONFIG_HOME', '.config'), 'config.json');
/** Numbers of the last list. */
export const listFile = (profile: string): string =>
  path.join(xdgFolder('XDG_STATE_HOME', '.local/state'), `list-${profile}.json`);

/** @throws {CommandError} */
export function checkProfileName(name: string): string {
  if (PROFILE_NAME.test(name)) return name;
  throw new CommandError(
    'invalid_profile',
    `${JSON.stringify(name)} is no name of a profile.`,
    'Use letters, digits, dot, hyphen and underscore, at most 64.',
  );
}

/** Writes a file that only its owner can read, whole or not at all. */
export function writePrivate(file: string, value: unknown): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx' });
  renameSync(temporary, file);
}

/** The parsed file; undefined when there is none. */
export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unusable(file, error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusable(file, error);
  }
}

const unusable = (file: string, error: unknown): CommandError =>
  new CommandError(
    'configuration_unusable',
    `${file} cannot be used: ${error instanceof Error ? error.message : error}`,
    'Correct or remove the file, then log in again.',
    EXIT.failed,
  );

function isConfiguration(value: unknown): value is Configuration {
  if (typeof value !== 'object' || value === null || !('version' in value) || !('profiles' in value)) return false;
  const { version, profiles } = value;
  if (version !== 1 || typeof profiles !== 'object' || profiles === null) return false;
  return Object.values(profiles).every(
    (profile: unknown) =>
      typeof profile === 'object' &&
      profile !== null &&
      ['url', 'token', 'mailboxId', 'address'].every((name) => typeof Reflect.get(profile, name) === 'string') &&
      typeof Reflect.get(profile, 'connection') === 'object',
  );
}

/** @throws {CommandError} */
export function readProfiles(): Readonly<Record<string, Profile>> {
  const file = configurationFile();
  const value = readJson(file);
  if (value === undefined) return {};
  if (!isConfiguration(value)) throw unusable(file, 'it is not of this version');
  // Tokens are in it: a file somebody opened up is closed again.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, OWNER_ONLY);
  return value.profiles;
}

export function saveProfile(name: string, profile: Profile): void {
  // Its numbers may be those of another mailbox.
  rmSync(listFile(name), { force: true });
  writeConfiguration({ ...readProfiles(), [name]: profile });
}

/** @returns whether there was one */
export function removeProfile(name: string): boolean {
  const { [name]: removed, ...rest } = readProfiles();
  if (removed === undefined) return false;
  writeConfiguration(rest);
  rmSync(listFile(name), { force: true });
  return true;
}

function writeConfiguration(profiles: Readonly<Record<string, Profile>>): void {
  const configuration: Configuration = { version: 1, profiles };
  writePrivate(configurationFile(), configuration);
}
