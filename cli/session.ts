import { MailboxClient } from '../client/index.ts';
import { checkProfileName, DEFAULT_PROFILE, readProfiles } from './configuration.ts';
import { CommandError, EXIT } from './exit-codes.ts';

/** Options every command has. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly json?: boolean;
}

/** Where `npm start` serves. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';
export const USER_AGENT = 'agent-mailbox-cli';

export interface Session {
  readonly profile: string;
  readonly url: string;
  readonly client: MailboxClient;
}

export const profileName = ({ profile }: GlobalOptions): string =>
  checkProfileName(profile ?? (process.env['AGENT_MAILBOX_PROFILE'] || DEFAULT_PROFILE));

export const openClient = (url: string, token: string): MailboxClient =>
  new MailboxClient({ url, token, headers: { 'user-agent': USER_AGENT } });

/**
 * The mailbox a command works with: AGENT_MAILBOX_TOKEN (with AGENT_MAILBOX_URL) where it is set and no profile is
 * named, else the profile.
 *
 * @throws {CommandError} not_logged_in
 */
export function openSession(options: GlobalOptions): Session {
  const profile = profileName(options);
  const token = process.env['AGENT_MAILBOX_TOKEN'];
  if (token && options.profile === undefined) {
    const url = process.env['AGENT_MAILBOX_URL'] || DEFAULT_URL;
    return { profile, url, client: openClient(url, token) };
  }
  const saved = readProfiles()[profile];
  if (saved === undefined)
    throw new CommandError(
      'not_logged_in',
      profile === DEFAULT_PROFILE ? 'You are not logged in.' : `There is no profile ${profile}.`,
      `Log in first: agent-mailbox login --token=<MAILBOX_TOKEN>${profile === DEFAULT_PROFILE ? '' : ` --profile ${profile}`}`,
      EXIT.credential,
    );
  return { profile, url: saved.url, client: openClient(saved.url, saved.token) };
}
