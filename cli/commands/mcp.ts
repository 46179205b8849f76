import type { Command } from 'commander';
import { remark } from '#cli/output.ts';
import { openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';

/** `mcp`: standard output belongs to the protocol, so everything else goes to standard error. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('Serve the mailbox to an agent by MCP on standard input and output')
    .action(async (_, command: Command) => {
      // Costs half a second to load, which no other command should pay.
      const { serveMcpStdio } = await import('#mcp/stdio.ts');
      const { client } = openSession(command.optsWithGlobals());
      serveMcpStdio(client, (error) => remark(`mcp: ${safeLine(error.message)}`));
    });
}
