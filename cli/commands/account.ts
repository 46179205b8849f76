/** `login`, `logout`, `whoami`, `connection`. */
import type { Command } from 'commander';
import type { Connection, Mailbox } from '../../client/index.ts';
import { configurationFile, removeProfile, saveProfile } from '../configuration.ts';
import { CommandError } from '../exit-codes.ts';
import { facts, print, remark, styled } from '../output.ts';
import { askHidden, readStandardInput } from '../read-input.ts';
import { DEFAULT_URL, type GlobalOptions, openClient, openSession, profileName } from '../session.ts';
import { safeLine } from '../terminal-text.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/;
const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1_024 * MEBIBYTE;

function connectionText({ imap, pop3, smtp }: Connection): string {
  const rows = Object.entries({ IMAP: imap, POP3: pop3, SMTP: smtp }).map(
    ([name, { host, port, security }]) =>
      [name, `${safeLine(host)}:${port}  ${security === 'tls' ? 'SSL/TLS' : 'STARTTLS'}`] as const,
  );
  return facts([...rows, ['Username', safeLine(imap.username)], ['Password', 'the mailbox token']]);
}

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

/** From the option, the environment, a pipe, or a question nobody sees the answer of. */
async function givenToken(option: string | undefined): Promise<string> {
  const fromEnvironment = process.env['AGENT_MAILBOX_TOKEN'];
  const token =
    option ??
    (fromEnvironment ||
      (process.stdin.isTTY ? await askHidden('Mailbox token (not shown): ') : await readStandardInput()));
  if (token.trim() !== '') return token.trim();
  throw new CommandError(
    'no_token',
    'No mailbox token was given.',
    'Give it by --token=amt_…, by AGENT_MAILBOX_TOKEN, or on standard input.',
  );
}

async function login(options: GlobalOptions & { token?: string; url?: string }): Promise<void> {
  const profile = profileName(options);
  const url = options.url ?? (process.env['AGENT_MAILBOX_URL'] || DEFAULT_URL);
  const token = await givenToken(options.token);
  const client = openClient(url, token);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    remark(
      `warning: ${hostname} is asked without TLS, so the token can be read on the way. Use https:// where you can.`,
    );
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

export function addAccountCommands(program: Command): void {
  program
    .command('login')
    .description('Keep a mailbox token on this machine and fetch the settings for mail clients')
    .option('--token <token>', 'mailbox token; without it: AGENT_MAILBOX_TOKEN, standard input, or a hidden question')
    .option('--url <address>', `address of the service (default: AGENT_MAILBOX_URL, else ${DEFAULT_URL})`)
    .action((_, command: Command) => login(command.optsWithGlobals()));
  program
    .command('logout')
    .description('Forget the token of a profile. It stays valid: rotate it to end it everywhere')
    .action((_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const profile = profileName(options);
      const removed = removeProfile(profile);
      print(options, { profile, removed }, () =>
        removed ? `Logged out of ${profile}.` : `Nobody was logged in as ${profile}.`,
      );
    });
  program
    .command('whoami')
    .description('Show the mailbox: address, state, storage')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const { client, url, profile } = openSession(options);
      const mailbox = await client.mailbox();
      print(options, { profile, url, mailbox }, () => mailboxText(mailbox, url, profile));
    });
  program
    .command('connection')
    .description('Show the settings for mail clients (IMAP, POP3, SMTP)')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const connection = await openSession(options).client.connection();
      print(options, connection, () => connectionText(connection));
    });
}
