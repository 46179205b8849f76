/** `threads`. */
import type { Command } from 'commander';
import { rememberList } from '#cli/message-numbers.ts';
import { type ListOptions, pageOf, withListOptions } from '#cli/organization-command.ts';
import { printUntrusted } from '#cli/output.ts';
import { printRows } from '#cli/record-text.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import { messageRow } from './read-mail.ts';

export function addThreadCommands(program: Command): void {
  const threads = program.command('threads').description('Conversations of the mailbox');
  withListOptions(threads.command('list').description('List conversations, newest first')).action(
    async (_, command: Command) => {
      const options = command.optsWithGlobals<ListOptions & GlobalOptions>();
      const page = await openSession(options).client.listThreads(pageOf(options));
      const columns = ['id', 'messageCount', 'unreadCount', 'senders', 'subject'];
      printRows(options, page, columns, 'There is no conversation.');
    },
  );
  threads
    .command('show')
    .description('List the messages of a conversation, oldest first, with numbers for the other commands')
    .argument('<id>', 'thr_…')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const thread = await session.client.getThread(id);
      rememberList(session, thread.messages);
      const messages = thread.messages.map((message, i) => ({ number: i + 1, ...message }));
      printUntrusted(options, { ...thread, messages }, () =>
        [safeLine(thread.subject), ...thread.messages.map((message, i) => messageRow(message, i + 1, 2))].join('\n'),
      );
    });
}
