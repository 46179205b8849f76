/** `completion`: scripts for shells, made from the commands. */
import type { Command } from 'commander';
import { SHELLS, type Shell, shellCompletion } from '#cli/completion.ts';
import { choice } from '#cli/organization-command.ts';
import { commandLine } from '#cli/program.ts';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the completion for a shell: agent-mailbox completion --shell bash >> ~/.bashrc')
    .addOption(choice('--shell <name>', 'which shell', SHELLS).makeOptionMandatory())
    .action(async ({ shell }: { shell: Shell }) => {
      process.stdout.write(shellCompletion(await commandLine(), shell));
    });
}
