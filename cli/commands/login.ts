/** What `login` does: checks a credential, then stores it. */

import { hostname } from 'node:os';
import { configurationFile, saveOrganization, saveProfile } from '#cli/configuration.ts';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { print, remark, styled } from '#cli/output.ts';
import { askHidden, readStandardInput } from '#cli/read-input.ts';
import { type GlobalOptions, openClient, openService, profileName, serviceUrl, USER_AGENT } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import { ApiError, DeviceSignInClient } from '#client/index.ts';
import { connectionText } from './account.ts';

interface LoginOptions extends GlobalOptions {
  readonly browser?: true;
  readonly token?: string;
  readonly url?: string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/;
const FORBIDDEN = 403;
/** The service takes no longer names of devices. */
const NAME_MAX = 100;

/** From the option, the environment, a pipe, or a prompt without echo. */
async function givenToken(option: string | undefined): Promise<string> {
  const fromEnvironment = process.env['AGENT_MAILBOX_TOKEN'];
  const token =
    option ??
    (fromEnvironment || (process.stdin.isTTY ? await askHidden('Token (not shown): ') : await readStandardInput()));
  if (token.trim() !== '') return token.trim();
  throw new CommandError(
    'no_token',
    'No mailbox token was given.',
    'Give it by --token=amt_…, by AGENT_MAILBOX_TOKEN, or on standard input.',
  );
}

/** RFC 8628: a person confirms the code in a browser, on whatever machine. @throws {CommandError} */
async function tokenByBrowser(url: string): Promise<string> {
  const client = new DeviceSignInClient({ url, headers: { 'user-agent': USER_AGENT } });
  const begun = await client.begin(`agent-mailbox on ${safeLine(hostname()) || 'a terminal'}`.slice(0, NAME_MAX));
  remark(
    `Open ${safeLine(begun.verificationUrl)}\nand enter the code ${styled('bold', safeLine(begun.userCode ?? ''))}`,
  );
  remark('Waiting for you …');
  const { status, token } = await client.wait(begun);
  if (token !== null) return token;
  throw new CommandError(
    `sign_in_${status}`,
    status === 'denied' ? 'The sign-in was refused in the browser.' : 'Nobody confirmed the code in time.',
    'Run the command again.',
    EXIT.credential,
  );
}

export async function login(options: LoginOptions): Promise<void> {
  const url = options.url ?? serviceUrl();
  const token = options.browser === true ? await tokenByBrowser(url) : await givenToken(options.token);
  // Refuses what is no address before anything is asked.
  const client = openClient(url, token);
  const { protocol, hostname: host } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.test(host))
    remark(
      `warning: requests to ${host} are sent without TLS, so the token can be read in transit. Use https:// where you can.`,
    );
  if (token.startsWith('amk_')) return loginWithKey(options, url, token);
  if (token.startsWith('ams_')) return loginWithSession(options, url, token);
  const profile = profileName(options);
  const [mailbox, connection] = await Promise.all([client.mailbox(), client.connection()]);
  saveProfile(profile, { url, token, mailboxId: mailbox.id, address: mailbox.address, connection });
  print(options, { profile, url, mailbox, connection, configurationFile: configurationFile() }, () =>
    [
      `${styled('green', 'Logged in')} as ${safeLine(mailbox.address)}; kept in ${configurationFile()}`,
      '',
      'For mail clients:',
      connectionText(connection),
      '',
      'Next: agent-mailbox mail inbox',
    ].join('\n'),
  );
}

async function loginWithKey(options: GlobalOptions, url: string, apiKey: string): Promise<void> {
  // A key without org:read is valid, and not shown the name.
  const name = await openService(url, { apiKey })
    .organization.get()
    .then(
      (organization) => organization.name,
      (error: unknown) => {
        if (error instanceof ApiError && error.status === FORBIDDEN) return 'an organization';
        throw error;
      },
    );
  loggedIn(options, { url, apiKey, name });
}

/** @param session its token, `ams_…` */
export async function loginWithSession(options: GlobalOptions, url: string, session: string): Promise<void> {
  const { user, organizations } = await openService(url, { session }).sessions.current();
  const [organization, ...others] = organizations;
  const name = organization === undefined ? user.email : `${organization.name} (${user.email})`;
  loggedIn(options, { url, session, name, ...(organization === undefined ? {} : { organizationId: organization.id }) });
  if (organization !== undefined && others.length > 0)
    remark(`You are a member of ${organizations.length} organizations; this profile works with ${safeLine(name)}.`);
}

function loggedIn(options: GlobalOptions, login: Parameters<typeof saveOrganization>[1]): void {
  const profile = profileName(options);
  saveOrganization(profile, login);
  const { url, name } = login;
  print(options, { profile, url, organization: name, configurationFile: configurationFile() }, () =>
    [
      `${styled('green', 'Logged in')} to ${safeLine(name)}; kept in ${configurationFile()}`,
      '',
      'Next: agent-mailbox mailboxes list',
    ].join('\n'),
  );
}
