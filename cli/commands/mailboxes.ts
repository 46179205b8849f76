/** `mailboxes`, with the tokens of a mailbox, and the mail of all mailboxes or of a group of them. */
import type { Command } from 'commander';
import {
  addDeletion,
  addList,
  choice,
  given,
  type ListOptions,
  listed,
  ofOthers,
  pageOf,
  requireYes,
  said,
  shown,
  withListOptions,
  withOrganization,
} from '#cli/command.ts';
import { recordText, tableText } from '#cli/output.ts';
import type { NewMailboxToken } from '#client/index.ts';

interface Kept {
  /** ISO 8601; empty: never. */
  readonly expires?: string;
  readonly keepDays?: string;
  readonly trashDays?: string;
  readonly spamDays?: string;
}

/** Days after which mail is deleted. Those not given are null: kept. Undefined without any. */
function retentionOf({ keepDays, trashDays, spamDays }: Kept) {
  if (keepDays === undefined && trashDays === undefined && spamDays === undefined) return undefined;
  const days = (text: string | undefined): number | null => (text === undefined || text === '' ? null : Number(text));
  return { allMailDays: days(keepDays), trashDays: days(trashDays), spamDays: days(spamDays) };
}

const expiryOf = ({ expires }: Kept): string | null | undefined => (expires === '' ? null : expires);

const withKept = (command: Command): Command =>
  command
    .option('--expires <time>', 'ISO 8601: from then on it is refused; 14 days later it is deleted; empty: never')
    .option('--keep-days <days>', 'retention of its own: all mail; limits that are not given are none')
    .option('--trash-days <days>', 'the same: mail in the trash')
    .option('--spam-days <days>', 'the same: mail in Junk');

interface Fields {
  readonly name?: string;
  readonly purpose?: string;
  readonly group?: string;
}

interface Changes extends Fields, Kept {
  readonly asOrganization?: boolean;
  readonly mode?: 'normal' | 'drafts_only' | 'stopped';
  readonly status?: 'active' | 'suspended';
}

export function addMailboxCommands(program: Command): void {
  const mailboxes = program.command('mailboxes').description('Manage the mailboxes of the organization');
  addList(
    mailboxes,
    'List mailboxes, newest first',
    ['id', 'address', 'status', 'group', 'unreadCount', 'sendingMode', 'today.received', 'today.sent', 'waiting.held'],
    'There is no mailbox yet.',
    (service, page) => service.mailboxes.list(page),
  );
  mailboxes
    .command('show')
    .description('Show a mailbox')
    .argument('<id>', 'mbx_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.mailboxes.get(id))));
  withKept(
    mailboxes
      .command('create')
      .description('Create a mailbox. Its token is shown only now')
      .argument('<local-part>', 'the address before the @')
      .option('--domain <name>', 'one of the organization; default: that of the service')
      .option('--name <text>', 'display name')
      .option('--purpose <text>', 'what it is for, for the people who decide about its mail')
      .option('--group <name>', 'its group, which keys can be limited to'),
  ).action(
    withOrganization<Fields & Kept & { domain?: string }>(async ({ service, args: [localPart = ''], options }) => {
      const { domain, name, purpose, group } = options;
      const kept = { expiresAt: expiryOf(options), retention: retentionOf(options) };
      const mailbox = await service.mailboxes.create({
        localPart,
        ...given({ domain, name, purpose, group, ...kept }),
      });
      return {
        value: mailbox,
        text: () =>
          `${recordText({ id: mailbox.id, address: mailbox.address, token: mailbox.token })}\n\nThe token is not shown again. Next: agent-mailbox login --token=…`,
      };
    }),
  );
  withKept(
    mailboxes
      .command('update')
      .description('Change name, purpose, expiry or retention, suspend it, or brake its sending')
      .argument('<id>', 'mbx_…')
      .option('--name <text>', 'display name')
      .option('--purpose <text>', 'what it is for')
      .option('--group <name>', 'its group; empty: none')
      .addOption(choice('--mode <mode>', 'of sending', ['normal', 'drafts_only', 'stopped']))
      .addOption(choice('--status <status>', 'suspended: it neither receives nor sends', ['active', 'suspended'])),
  )
    .option('--as-organization', 'retention as the organization has it')
    .action(
      withOrganization<Changes>(async ({ service, args: [id = ''], options }) => {
        const { name, purpose, mode: sendingMode, status } = options;
        const group = options.group === '' ? null : options.group;
        const retention = options.asOrganization === true ? null : retentionOf(options);
        const changes = { name, purpose, group, sendingMode, status, expiresAt: expiryOf(options), retention };
        return shown(await service.mailboxes.update(id, given(changes)));
      }),
    );
  addDeletion(mailboxes, 'Delete a mailbox with all its mail', 'mbx_…', 'is deleted with all its mail', (service, id) =>
    service.mailboxes.delete(id),
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

type Access = NonNullable<NewMailboxToken['access']>;

const ACCESSES: readonly Access[] = ['full', 'read', 'send'];

function addMailboxTokenCommands(mailboxes: Command): void {
  mailboxes
    .command('tokens')
    .description('List the tokens of a mailbox')
    .argument('<id>', 'mbx_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const tokens = await service.mailboxes.tokens(id);
        const columns = ['id', 'name', 'access', 'tokenHint', 'lastUsedAt', 'expiresAt'];
        return { value: { data: tokens }, text: () => tableText(tokens, columns, 'Every token is revoked.') };
      }),
    );
  mailboxes
    .command('create-token')
    .description('Create another token of a mailbox, which is shown only once')
    .argument('<id>', 'mbx_…')
    .argument('<name>', 'which program uses it')
    .addOption(choice('--access <access>', 'read: changes and sends nothing; send: reads nothing', ACCESSES))
    .option('--expires <time>', 'ISO 8601; default: never')
    .action(
      withOrganization<{ access?: Access; expires?: string }>(
        async ({ service, args: [id = '', name = ''], options: { access, expires: expiresAt } }) => {
          const token = await service.mailboxes.createToken(id, { name, ...given({ access, expiresAt }) });
          const { name: itsName, access: itsAccess, token: secret } = token;
          return {
            value: token,
            text: () =>
              `${recordText({ id: token.id, name: itsName, access: itsAccess, token: secret })}\n\nThe token is not shown again.`,
          };
        },
      ),
    );
  mailboxes
    .command('revoke-token')
    .description('Revoke a token of a mailbox at once')
    .argument('<id>', 'mbx_…')
    .argument('<token-id>', 'tok_…')
    .option('--yes', 'confirm the revocation')
    .action(
      withOrganization<{ yes?: true }>(async ({ service, args: [id = '', tokenId = ''], options }) => {
        requireYes(options, `${tokenId} ends at once, for every protocol.`);
        await service.mailboxes.revokeToken(id, tokenId);
        return said({ id: tokenId, revoked: true }, `${tokenId} is revoked.`);
      }),
    );
}

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

function addMailOfMailboxesCommands(mailboxes: Command): void {
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
