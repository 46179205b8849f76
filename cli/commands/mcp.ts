import type { Command } from 'commander';
import { sharedFolders } from '#cli/attachments.ts';
import { collect } from '#cli/command.ts';
import { privatePlaces } from '#cli/configuration.ts';
import { remark } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';

/** `mcp`: standard output belongs to the protocol, so everything else goes to standard error. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('Serve the mailbox to an agent by MCP on standard input and output')
    .option(
      '--files <folder>',
      'folder whose files may be attached, instead of those that the host shares; may be repeated',
      collect,
    )
    .action(async (_, command: Command) => {
      // Costs half a second to load, which no other command should pay.
      const { serveMcpStdio } = await import('#mcp/stdio.ts');
      const options = command.optsWithGlobals<GlobalOptions & { files?: string[] }>();
      const { client } = openSession(options);
      const files = { folders: sharedFolders(options.files ?? []), never: privatePlaces() };
      serveMcpStdio(client, files, (error) => remark(`mcp: ${safeLine(error.message)}`));
    });
}
