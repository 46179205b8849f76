import { MailboxClient, OrganizationClient, type OrganizationCredential } from '#client/index.ts';
import {
  checkProfileName,
  DEFAULT_PROFILE,
  type OrganizationLogin,
  readOrganizations,
  readProfiles,
} from './configuration.ts';
import { CommandError, EXIT } from './exit-codes.ts';

/** Options every command has. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly json?: boolean;
  /** A mailbox of the organization, instead of that of the profile. */
  readonly mailbox?: string;
}

/** Where `npm start` serves. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';
export const USER_AGENT = 'agent-mailbox-cli';
const headers = { 'user-agent': USER_AGENT };

export interface Session {
  readonly profile: string;
  readonly url: string;
  readonly client: MailboxClient;
}

interface OrganizationSession {
  readonly profile: string;
  readonly url: string;
  readonly service: OrganizationClient;
}

export const profileName = ({ profile }: GlobalOptions): string =>
  checkProfileName(profile ?? (process.env['AGENT_MAILBOX_PROFILE'] || DEFAULT_PROFILE));

/** The address of the service, when none is stored. */
export const serviceUrl = (): string => process.env['AGENT_MAILBOX_URL'] || DEFAULT_URL;

export const openClient = (url: string, token: string): MailboxClient => new MailboxClient({ url, token, headers });

export const openService = (url: string, credential: OrganizationCredential): OrganizationClient =>
  new OrganizationClient({ url, headers, ...credential });

const notLoggedIn = (profile: string, what: string): CommandError =>
  new CommandError(
    'not_logged_in',
    profile === DEFAULT_PROFILE ? 'You are not logged in.' : `There is no profile ${profile}.`,
    `Log in first: agent-mailbox login ${what}${profile === DEFAULT_PROFILE ? '' : ` --profile ${profile}`}`,
    EXIT.credential,
  );

/**
 * The mailbox a command works with: AGENT_MAILBOX_TOKEN (with AGENT_MAILBOX_URL) if it is set and no profile is given,
 * else the profile. With `--mailbox` one of the organization.
 *
 * @throws {CommandError} not_logged_in
 */
export function openSession(options: GlobalOptions): Session {
  const profile = profileName(options);
  if (options.mailbox !== undefined) {
    const { service, url } = openOrganization(options);
    return { profile, url: `${url}#${options.mailbox}`, client: service.mailbox(options.mailbox) };
  }
  const token = process.env['AGENT_MAILBOX_TOKEN'];
  if (token && options.profile === undefined) {
    const url = serviceUrl();
    return { profile, url, client: openClient(url, token) };
  }
  const saved = readProfiles()[profile];
  if (saved === undefined) throw notLoggedIn(profile, '--token=<MAILBOX_TOKEN>');
  return { profile, url: saved.url, client: openClient(saved.url, saved.token) };
}

function credentialOf({ apiKey, session, organizationId }: OrganizationLogin): OrganizationCredential {
  if (apiKey !== undefined) return { apiKey };
  return { session: session ?? '', ...(organizationId === undefined ? {} : { organizationId }) };
}

/**
 * The organization a command works with: AGENT_MAILBOX_API_KEY (with AGENT_MAILBOX_URL) if it is set and no profile is
 * given, else the profile.
 *
 * @throws {CommandError} not_logged_in
 */
export function openOrganization(options: GlobalOptions): OrganizationSession {
  const profile = profileName(options);
  const apiKey = process.env['AGENT_MAILBOX_API_KEY'];
  if (apiKey && options.profile === undefined) {
    const url = serviceUrl();
    return { profile, url, service: openService(url, { apiKey }) };
  }
  const saved = readOrganizations()[profile];
  if (saved === undefined) throw notLoggedIn(profile, '--browser, or with --token=<API key, amk_…>');
  return { profile, url: saved.url, service: openService(saved.url, credentialOf(saved)) };
}

/** Whether a mailbox is there for `openSession`. */
export const hasMailbox = (options: GlobalOptions): boolean =>
  options.mailbox !== undefined ||
  Boolean(process.env['AGENT_MAILBOX_TOKEN'] && options.profile === undefined) ||
  readProfiles()[profileName(options)] !== undefined;

/** The stored organization of the profile. */
export function storedOrganization(options: GlobalOptions) {
  const profile = profileName(options);
  const saved = readOrganizations()[profile];
  return saved === undefined ? undefined : { profile, url: saved.url, name: saved.name };
}
