/** `logout`, `whoami`, `connection`; of `login` the options. */
import type { Command } from 'commander';
import { removeProfile } from '#cli/configuration.ts';
import { facts, print, styled } from '#cli/output.ts';
import {
  DEFAULT_URL,
  type GlobalOptions,
  hasMailbox,
  openService,
  openSession,
  profileName,
  storedOrganization,
} from '#cli/session.ts';
import { safeLine, safeText } from '#cli/terminal-text.ts';
import type { Connection, Mailbox } from '#client/index.ts';
import { type ConnectionSnippet, connectionSnippets, TOKEN_PLACEHOLDER } from '#client/snippets.ts';

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1_024 * MEBIBYTE;

export function connectionText({ imap, pop3, smtp }: Connection): string {
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
    .action(async (_, command: Command) => {
      const { login } = await import('./login.ts');
      await login(command.optsWithGlobals());
    });
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
