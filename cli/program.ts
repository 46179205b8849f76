/**
 * The commands. Only the part that a command line names is loaded, so that a command starts quickly; help and
 * completion load all.
 */
import { Command } from 'commander';
import { version } from '#mcp/version.ts';

interface Part {
  /** The commands it adds. */
  readonly names: readonly string[];
  load(): Promise<(program: Command) => void>;
}

const PARTS: readonly Part[] = [
  {
    names: ['login', 'logout', 'whoami', 'connection'],
    load: async () => (await import('./commands/account.ts')).addAccountCommands,
  },
  { names: ['mail'], load: async () => (await import('./commands/mail.ts')).addMailCommands },
  { names: ['threads'], load: async () => (await import('./commands/read-mail.ts')).addThreadCommands },
  { names: ['aliases'], load: async () => (await import('./commands/aliases.ts')).addAliasCommands },
  { names: ['drafts'], load: async () => (await import('./commands/drafts.ts')).addDraftCommands },
  { names: ['mailboxes'], load: async () => (await import('./commands/mailboxes.ts')).addMailboxCommands },
  { names: ['webhooks'], load: async () => (await import('./commands/webhooks.ts')).addWebhookCommands },
  { names: ['deliveries'], load: async () => (await import('./commands/deliveries.ts')).addDeliveryCommands },
  { names: ['consents'], load: async () => (await import('./commands/consents.ts')).addConsentCommands },
  { names: ['domains'], load: async () => (await import('./commands/domains.ts')).addDomainCommands },
  { names: ['keys'], load: async () => (await import('./commands/keys.ts')).addKeyCommands },
  { names: ['mcp'], load: async () => (await import('./commands/mcp.ts')).addMcpCommand },
  { names: ['completion'], load: async () => (await import('./commands/completion.ts')).addCompletionCommand },
];

/** Options before the command that have a value. */
const WITH_VALUE = new Set(['--profile', '--mailbox']);

/** The command that the arguments name: the first of them that is neither an option nor its value. */
function commandOf(args: readonly string[]): string | undefined {
  const index = args.findIndex((each, i) => !each.startsWith('-') && !WITH_VALUE.has(args[i - 1] ?? ''));
  return args[index];
}

/** @param args what the commands are loaded for; without any: all commands */
export async function commandLine(args: readonly string[] = []): Promise<Command> {
  const program = new Command('agent-mailbox')
    .description('Mailboxes for agents on the command line. Log in once, then read and send.')
    .version(version())
    .option('--json', 'print answers as JSON, and errors as JSON on standard error')
    .option('--profile <name>', 'which of several logins to use (default: AGENT_MAILBOX_PROFILE, else "default")')
    .option('--mailbox <id>', 'mbx_… of the organization, instead of the mailbox of the profile')
    .helpCommand('help [command]', 'Show the usage of a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .addHelpText(
      'after',
      `
Exit codes: 0 done (also when a message is held for approval), 1 refused, 2 wrong arguments, 3 not logged in or
token not valid, 4 no answer or too many requests (try later), 5 not found, 6 nothing arrived in time.

  agent-mailbox login --token=amt_…
  agent-mailbox mail inbox --unread
  agent-mailbox mail open 1
  agent-mailbox mail reply 1 --text 'Thank you.'

  agent-mailbox login --browser
  agent-mailbox consents list --status pending
  agent-mailbox webhooks listen --forward http://localhost:3000/hook`,
    );
  const named = commandOf(args);
  const own = PARTS.filter(({ names }) => named !== undefined && names.includes(named));
  const needed = own.length > 0 ? own : args.includes('--version') || args.includes('-V') ? [] : PARTS;
  for (const part of needed) (await part.load())(program);
  throwing(program);
  return program;
}

/** Commander ends the process itself unless each command is configured to throw. */
function throwing(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} });
  for (const child of command.commands) throwing(child);
}
