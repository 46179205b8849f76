import type { Command } from 'commander';
import { serveMcpStdio } from '../../mcp/stdio.ts';
import { remark } from '../output.ts';
import { openSession } from '../session.ts';

/** `mcp`: standard output belongs to the protocol, so everything else goes to standard error. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('Serve the mailbox to an agent by MCP on standard input and output')
    .action((_, command: Command) => {
      const { client } = openSession(command.optsWithGlobals());
      serveMcpStdio(client, (error) => remark(`mcp: ${error.message}`));
    });
}
