#!/usr/bin/env node
/** `agent-mailbox`: mailboxes on the command line, for people and agents. What it does is in docs/cli.md. */
import { CommanderError } from 'commander';
import { CommandError, EXIT } from './exit-codes.ts';
import { printError } from './output.ts';
import { commandLine } from './program.ts';

/** Usage errors of commander say `error: …`, with a hint on a second line. */
const usageError = ({ message }: CommanderError): CommandError =>
  new CommandError('usage', message.replace(/^error: /, ''), 'See agent-mailbox help, or --help after the command.');

const args = process.argv.slice(2);
const wantsJson = args.includes('--json');
// The reader of a pipe, such as `head`, may have enough before the end.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await (await commandLine(args)).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) process.exitCode = printError(error, wantsJson);
  else if (error.exitCode !== 0 && error.code !== 'commander.help')
    process.exitCode = printError(usageError(error), wantsJson);
  else process.exitCode = error.code === 'commander.help' ? EXIT.usage : EXIT.ok;
}
