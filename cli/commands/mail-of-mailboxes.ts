/** `mailboxes groups`, `messages`, `search` and `threads`: the mail of all mailboxes, or of a group of them. */
import type { Command } from 'commander';
import {
  given,
  type ListOptions,
  listed,
  ofOthers,
  pageOf,
  withListOptions,
  withOrganization,
} from '#cli/organization-command.ts';
import { tableText } from '#cli/record-text.ts';

interface ScopeOptions extends ListOptions {
  readonly group?: string;
  readonly mailboxId?: string;
}

interface MailOptions extends ScopeOptions {
  readonly folder?: string;
  readonly unread?: true;
}

const MESSAGE_COLUMNS = ['mailboxId', 'id', 'receivedAt', 'seen', 'from', 'subject'];

const withScope = (command: Command): Command =>
  withListOptions(command)
    .option('--group <name>', 'mailboxes of this group')
    .option('--mailbox-id <id>', 'one mailbox, mbx_…');

const scopeOf = (options: ScopeOptions) => {
  const { group, mailboxId } = options;
  return { ...pageOf(options), ...given({ group, mailboxId }) };
};

export function addMailOfMailboxesCommands(mailboxes: Command): void {
  mailboxes
    .command('groups')
    .description('List the groups of mailboxes, with their unread messages')
    .action(
      withOrganization(async ({ service }) => {
        const groups = await service.mailboxes.groups();
        const columns = ['name', 'mailboxCount', 'unreadCount'];
        return { value: groups, text: () => tableText(groups.data, columns, 'There is no mailbox yet.') };
      }),
    );
  withScope(mailboxes.command('messages').description('List messages of all mailboxes, newest first'))
    .option('--folder <name>', 'default: INBOX; * for all')
    .option('--unread', 'only unread messages')
    .action(
      withOrganization<MailOptions>(({ service, options }) => {
        const { folder, unread } = options;
        const list = service.mail.messages({ ...scopeOf(options), ...given({ folder, unread }) });
        return ofOthers(listed(list, MESSAGE_COLUMNS, 'There is no message.'));
      }),
    );
  withScope(mailboxes.command('search').description('Search messages of all mailboxes by their words'))
    .argument('<words...>', '"a phrase", -without and or are supported')
    .option('--folder <name>', 'default: all')
    .action(
      withOrganization<MailOptions>(({ service, args, options }) => {
        const query = { ...scopeOf(options), ...given({ folder: options.folder }) };
        return ofOthers(
          listed(
            service.mail.search({ ...query, q: args.join(' ') }),
            MESSAGE_COLUMNS,
            'No message contains these words.',
          ),
        );
      }),
    );
  withScope(mailboxes.command('threads').description('List conversations of all mailboxes, newest first')).action(
    withOrganization<ScopeOptions>(({ service, options }) =>
      ofOthers(
        listed(
          service.mail.threads(scopeOf(options)),
          ['mailboxId', 'id', 'messageCount', 'unreadCount', 'senders', 'subject'],
          'There is no conversation.',
        ),
      ),
    ),
  );
}
