/** `mailboxes`. */
import type { Command } from 'commander';
import {
  choice,
  given,
  type ListOptions,
  listed,
  pageOf,
  requireYes,
  said,
  shown,
  withListOptions,
  withOrganization,
} from '#cli/organization-command.ts';
import { recordText, tableText } from '#cli/record-text.ts';
import { addMailOfMailboxesCommands } from './mail-of-mailboxes.ts';
import { addMailboxTokenCommands } from './mailbox-tokens.ts';

interface Fields {
  readonly name?: string;
  readonly purpose?: string;
  readonly group?: string;
}

interface Changes extends Fields {
  readonly mode?: 'normal' | 'drafts_only' | 'stopped';
  readonly status?: 'active' | 'suspended';
}

export function addMailboxCommands(program: Command): void {
  const mailboxes = program.command('mailboxes').description('Manage the mailboxes of the organization');
  withListOptions(mailboxes.command('list').description('List mailboxes, newest first')).action(
    withOrganization<ListOptions>(({ service, options }) =>
      listed(
        service.mailboxes.list(pageOf(options)),
        [
          'id',
          'address',
          'status',
          'group',
          'unreadCount',
          'sendingMode',
          'today.received',
          'today.sent',
          'waiting.held',
        ],
        'There is no mailbox yet.',
      ),
    ),
  );
  mailboxes
    .command('show')
    .description('Show a mailbox')
    .argument('<id>', 'mbx_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.mailboxes.get(id))));
  mailboxes
    .command('create')
    .description('Create a mailbox. Its token is shown only now')
    .argument('<local-part>', 'the address before the @')
    .option('--domain <name>', 'one of the organization; default: that of the service')
    .option('--name <text>', 'display name')
    .option('--purpose <text>', 'what it is for, for the people who decide about its mail')
    .option('--group <name>', 'its group, which keys can be limited to')
    .action(
      withOrganization<Fields & { domain?: string }>(async ({ service, args: [localPart = ''], options }) => {
        const { domain, name, purpose, group } = options;
        const mailbox = await service.mailboxes.create({ localPart, ...given({ domain, name, purpose, group }) });
        return {
          value: mailbox,
          text: () =>
            `${recordText({ id: mailbox.id, address: mailbox.address, token: mailbox.token })}\n\nThe token is not shown again. Next: agent-mailbox login --token=…`,
        };
      }),
    );
  mailboxes
    .command('update')
    .description('Change name or purpose, suspend it, or brake its sending')
    .argument('<id>', 'mbx_…')
    .option('--name <text>', 'display name')
    .option('--purpose <text>', 'what it is for')
    .option('--group <name>', 'its group; empty: none')
    .addOption(choice('--mode <mode>', 'of sending', ['normal', 'drafts_only', 'stopped']))
    .addOption(choice('--status <status>', 'suspended: it neither receives nor sends', ['active', 'suspended']))
    .action(
      withOrganization<Changes>(async ({ service, args: [id = ''], options }) => {
        const { name, purpose, mode: sendingMode, status } = options;
        const group = options.group === '' ? null : options.group;
        return shown(await service.mailboxes.update(id, given({ name, purpose, group, sendingMode, status })));
      }),
    );
  mailboxes
    .command('delete')
    .description('Delete a mailbox with all its mail')
    .argument('<id>', 'mbx_…')
    .option('--yes', 'confirm the deletion')
    .action(
      withOrganization<{ yes?: true }>(async ({ service, args: [id = ''], options }) => {
        requireYes(options, `${id} is deleted with all its mail.`);
        await service.mailboxes.delete(id);
        return said({ id, deleted: true }, `${id} is deleted.`);
      }),
    );
  mailboxes
    .command('rotate-token')
    .description('Replace the first token; the old one becomes invalid at once')
    .argument('<id>', 'mbx_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const mailbox = await service.mailboxes.rotateToken(id);
        return { value: mailbox, text: () => recordText({ address: mailbox.address, token: mailbox.token }) };
      }),
    );
  addMailboxTokenCommands(mailboxes);
  addMailOfMailboxesCommands(mailboxes);
  mailboxes
    .command('resume-sending')
    .description('Let it send again after the service paused it')
    .argument('<id>', 'mbx_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.mailboxes.resumeSending(id))));
  mailboxes
    .command('logins')
    .description('Show which protocols were used to open it, and when')
    .argument('<id>', 'mbx_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const logins = await service.mailboxes.logins(id);
        return { value: logins, text: () => tableText(logins.data, ['protocol', 'usedAt'], 'Not opened yet.') };
      }),
    );
  mailboxes
    .command('test-mail')
    .description('Deliver a mail to it, as from outside; for signed-in members')
    .argument('<id>', 'mbx_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.mailboxes.sendTestMail(id))));
}
