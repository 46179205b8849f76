#!/usr/bin/env node
/** `agent-mailbox`: a mailbox on the command line, for people and agents. What it does is in docs/cli.md. */
import { Command, CommanderError } from 'commander';
import { version } from '../mcp/version.ts';
import { addAccountCommands } from './commands/account.ts';
import { addChangeCommands } from './commands/change-mail.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addReadCommands } from './commands/read-mail.ts';
import { addSendCommands } from './commands/send-mail.ts';
import { addWaitCommand } from './commands/wait-for-mail.ts';
import { CommandError, EXIT } from './exit-codes.ts';
import { printError } from './output.ts';

function commandLine(): Command {
  const program = new Command('agent-mailbox')
    .description('A mailbox on the command line. Log in once with its token, then read and send.')
    .version(version())
    .option('--json', 'answers as JSON, errors as JSON on standard error')
    .option('--profile <name>', 'one of several mailboxes (default: AGENT_MAILBOX_PROFILE, else "default")')
    .helpCommand('help [command]', 'Show how a command is used')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .addHelpText(
      'after',
      `
Exit codes: 0 done (also when a message is held for approval), 1 refused, 2 wrong use, 3 not logged in or token not
valid, 4 no answer or too many requests (try later), 5 not found, 6 nothing came in time.

  agent-mailbox login --token=amt_…
  agent-mailbox mail inbox --unread
  agent-mailbox mail open 1
  agent-mailbox mail reply 1 --text 'Thank you.'`,
    );
  addAccountCommands(program);
  const mail = program.command('mail').description('Read and send mail');
  addReadCommands(mail);
  addWaitCommand(mail);
  addSendCommands(mail);
  addChangeCommands(mail);
  addMcpCommand(program);
  throwing(program);
  return program;
}

/** Commander ends the process by itself unless it is told to throw, command by command. */
function throwing(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} });
  for (const child of command.commands) throwing(child);
}

/** Usage errors of commander say `error: …`, with a hint on a second line. */
const usageError = ({ message }: CommanderError): CommandError =>
  new CommandError('usage', message.replace(/^error: /, ''), 'See agent-mailbox help, or --help after the command.');

const wantsJson = process.argv.includes('--json');
// The reader of a pipe, such as `head`, may have enough before the end.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await commandLine().parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.exitCode = printError(error, wantsJson);
  else if (error.exitCode !== 0 && error.code !== 'commander.help')
    process.exitCode = printError(usageError(error), wantsJson);
  else process.exitCode = error.code === 'commander.help' ? EXIT.usage : EXIT.ok;
}
