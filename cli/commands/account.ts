/** `login`, which checks a credential and stores it; `logout`, `whoami`, `connection`. */

import { hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { configurationFile, removeProfile, saveOrganization, saveProfile } from '#cli/configuration.ts';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { facts, print, remark, styled } from '#cli/output.ts';
import {
  DEFAULT_URL,
  type GlobalOptions,
  hasMailbox,
  openClient,
  openService,
  openSession,
  profileName,
  serviceUrl,
  storedOrganization,
  USER_AGENT,
} from '#cli/session.ts';
import { safeLine, safeText } from '#cli/terminal-text.ts';
import { ApiError, type Connection, DeviceSignInClient, type Mailbox } from '#client/index.ts';
import { type ConnectionSnippet, connectionSnippets, TOKEN_PLACEHOLDER } from '#client/snippets.ts';

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1_024 * MEBIBYTE;

function connectionText({ imap, pop3, smtp }: Connection): string {
  const rows = Object.entries({ IMAP: imap, POP3: pop3, SMTP: smtp }).map(
    ([name, { host, port, security }]) =>
      [name, `${safeLine(host)}:${port}  ${security === 'tls' ? 'SSL/TLS' : 'STARTTLS'}`] as const,
  );
  return facts([...rows, ['Username', safeLine(imap.username)], ['Password', 'the mailbox token']]);
}

const snippetText = ({ title, note, text }: ConnectionSnippet): string =>
  `${styled('bold', title)}  ${note}\n\n${safeText(text)}`;

const size = (bytes: number): string =>
  bytes >= GIBIBYTE ? `${(bytes / GIBIBYTE).toFixed(1)} GiB` : `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

function mailboxText(mailbox: Mailbox, url: string, profile: string): string {
  const { name, address, status, quota, sending } = mailbox;
  return facts([
    [
      'Mailbox',
      name === '' || name === mailbox.localPart ? safeLine(address) : `${safeLine(name)} <${safeLine(address)}>`,
    ],
    ['Id', mailbox.id],
    ['Service', url],
    ['Profile', profile],
    [
      'Status',
      sending.state === 'ok' ? status : `${status}, sending ${sending.state}: ${safeLine(sending.reason ?? '')}`,
    ],
    ['Storage', `${size(quota.usedBytes)} of ${size(quota.limitBytes)}, ${quota.messageCount} messages`],
  ]);
}

export function addAccountCommands(program: Command): void {
  program
    .command('login')
    .description('Store a mailbox token, an API key or a session on this machine')
    .option(
      '--token <token>',
      'mailbox token amt_…, API key amk_… or session ams_… (default: AGENT_MAILBOX_TOKEN, else standard input, else you are asked)',
    )
    .option('--browser', 'sign in as a person: confirm a code in the browser, on any machine')
    .option('--url <address>', `address of the service (default: AGENT_MAILBOX_URL, else ${DEFAULT_URL})`)
    .action((_, command: Command) => login(command.optsWithGlobals()));
  program
    .command('logout')
    .description(
      'Remove a profile from this machine. Its session ends; tokens and keys stay valid until they are ended',
    )
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const profile = profileName(options);
      const { mailbox, organization } = removeProfile(profile);
      if (organization?.session !== undefined) {
        // Removed from this machine in any case; a session that cannot be ended now ends by its time.
        const { url, session } = organization;
        await openService(url, { session })
          .sessions.signOut()
          .catch(() => {});
      }
      const removed = mailbox || organization !== undefined;
      print(options, { profile, removed }, () =>
        removed ? `Logged out of ${profile}.` : `There was no login in profile ${profile}.`,
      );
    });
  program
    .command('whoami')
    .description('Show the mailbox: address, state, storage')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const organization = hasMailbox(options) ? undefined : storedOrganization(options);
      if (organization !== undefined) {
        const { profile, url, name } = organization;
        return print(options, { profile, url, organization: name }, () =>
          facts([
            ['Organization', safeLine(name)],
            ['Service', url],
            ['Profile', profile],
          ]),
        );
      }
      const { client, url, profile } = openSession(options);
      const mailbox = await client.mailbox();
      print(options, { profile, url, mailbox }, () => mailboxText(mailbox, url, profile));
    });
  program
    .command('connection')
    .description('Show the settings for mail clients (IMAP, POP3, SMTP)')
    .option('--snippets', 'show snippets instead: command line, mail clients, TypeScript, cURL, MCP')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { snippets?: true }>();
      const { client, url } = openSession(options);
      const connection = await client.connection();
      if (options.snippets === undefined) return print(options, connection, () => connectionText(connection));
      // Never with the token: output is often copied into logs and chats.
      const facts = { apiUrl: url.replace(/\/$/, ''), address: connection.imap.username, token: TOKEN_PLACEHOLDER };
      const snippets = connectionSnippets({ ...facts, ...connection });
      print(options, { data: snippets }, () => snippets.map(snippetText).join('\n\n'));
    });
}

interface LoginOptions extends GlobalOptions {
  readonly browser?: true;
  readonly token?: string;
  readonly url?: string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/;
const FORBIDDEN = 403;
/** The service takes no longer names of devices. */
const NAME_MAX = 100;

/** Prompts on the terminal without echo. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

/** From the option, the environment, a pipe, or a prompt without echo. */
async function givenToken(option: string | undefined): Promise<string> {
  const fromEnvironment = process.env['AGENT_MAILBOX_TOKEN'];
  const token =
    option ??
    (fromEnvironment || (process.stdin.isTTY ? await askHidden('Token (not shown): ') : await text(process.stdin)));
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

async function login(options: LoginOptions): Promise<void> {
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
async function loginWithSession(options: GlobalOptions, url: string, session: string): Promise<void> {
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
