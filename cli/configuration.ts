/**
 * The file of `login`: `$XDG_CONFIG_HOME/agent-mailbox/config.json` (default `~/.config`), readable by its owner only,
 * because it contains mailbox tokens. No keychain: machines of agents have none.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Connection } from '#client/index.ts';
import { CommandError, EXIT } from './exit-codes.ts';

/** A mailbox on this machine. */
export interface Profile {
  readonly url: string;
  readonly token: string;
  readonly mailboxId: string;
  readonly address: string;
  /** Settings for mail clients at the time of the login. */
  readonly connection: Connection;
}

/** An organization on this machine: by an API key, or by the session of a person. */
export interface OrganizationLogin {
  readonly url: string;
  readonly apiKey?: string;
  readonly session?: string;
  /** Of a session: which organization, if the person is a member of several. */
  readonly organizationId?: string;
  /** For people: the name of the organization, or of the person. */
  readonly name: string;
}

interface Configuration {
  readonly version: 1;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly organizations?: Readonly<Record<string, OrganizationLogin>>;
}

export const DEFAULT_PROFILE = 'default';
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FOLDER = 'agent-mailbox';
/** Where `npm start` stores everything, unless DATA_DIR names another folder. */
const SERVICE_FOLDER = '.data';
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

/** Messages that `mail wait` showed. */
export const handedOutFile = (profile: string): string =>
  path.join(xdgFolder('XDG_STATE_HOME', '.local/state'), `shown-${profile}.json`);

/** What no mail may carry away: the files above, and what the service stores where it runs on this machine. */
export const privatePlaces = (): string[] => [
  path.dirname(configurationFile()),
  path.dirname(listFile(DEFAULT_PROFILE)),
  path.resolve(process.env['DATA_DIR'] || SERVICE_FOLDER),
];

/** @throws {CommandError} */
export function checkProfileName(name: string): string {
  if (PROFILE_NAME.test(name)) return name;
  throw new CommandError(
    'invalid_profile',
    `${JSON.stringify(name)} is not a valid profile name.`,
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

const areOrganizations = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every(
    (login: unknown) =>
      typeof login === 'object' &&
      login !== null &&
      ['url', 'name'].every((name) => typeof Reflect.get(login, name) === 'string') &&
      ['apiKey', 'session'].some((name) => typeof Reflect.get(login, name) === 'string'),
  );

function isConfiguration(value: unknown): value is Configuration {
  if (typeof value !== 'object' || value === null || !('version' in value) || !('profiles' in value)) return false;
  const { version, profiles } = value;
  if (version !== 1 || typeof profiles !== 'object' || profiles === null) return false;
  if ('organizations' in value && !areOrganizations(value.organizations)) return false;
  return Object.values(profiles).every(
    (profile: unknown) =>
      typeof profile === 'object' &&
      profile !== null &&
      ['url', 'token', 'mailboxId', 'address'].every((name) => typeof Reflect.get(profile, name) === 'string') &&
      typeof Reflect.get(profile, 'connection') === 'object',
  );
}

function readConfiguration(): Configuration {
  const file = configurationFile();
  const value = readJson(file);
  if (value === undefined) return { version: 1, profiles: {} };
  if (!isConfiguration(value)) throw unusable(file, 'it has another version');
  // Tokens are in it: a file somebody opened up is closed again.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, OWNER_ONLY);
  return value;
}

/** @throws {CommandError} */
export const readProfiles = (): Readonly<Record<string, Profile>> => readConfiguration().profiles;

/** @throws {CommandError} */
export const readOrganizations = (): Readonly<Record<string, OrganizationLogin>> =>
  readConfiguration().organizations ?? {};

export function saveProfile(name: string, profile: Profile): void {
  // Its numbers may be those of another mailbox.
  rmSync(listFile(name), { force: true });
  const before = readConfiguration();
  writePrivate(configurationFile(), { ...before, profiles: { ...before.profiles, [name]: profile } });
}

export function saveOrganization(name: string, login: OrganizationLogin): void {
  const before = readConfiguration();
  writePrivate(configurationFile(), { ...before, organizations: { ...before.organizations, [name]: login } });
}

/** Removes the mailbox and the organization of a profile. @returns what there was */
export function removeProfile(name: string): { readonly mailbox: boolean; readonly organization?: OrganizationLogin } {
  const { version, profiles, organizations = {} } = readConfiguration();
  const { [name]: mailbox, ...otherMailboxes } = profiles;
  const { [name]: organization, ...otherOrganizations } = organizations;
  if (mailbox === undefined && organization === undefined) return { mailbox: false };
  writePrivate(configurationFile(), { version, profiles: otherMailboxes, organizations: otherOrganizations });
  rmSync(listFile(name), { force: true });
  return { mailbox: mailbox !== undefined, ...(organization === undefined ? {} : { organization }) };
}
