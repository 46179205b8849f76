/** `keys`. */
import type { Command } from 'commander';
import { addDeletion, addList, choice, given, shown, withOrganization } from '#cli/command.ts';
import type { NewApiKey } from '#client/index.ts';

type Scope = NewApiKey['scopes'][number];
interface KeyOptions {
  readonly name?: string;
  readonly scope?: Scope[];
  readonly expires?: string;
  readonly group?: string[];
}

const SCOPES: readonly Scope[] = [
  'mailbox:create',
  'mailbox:read',
  'mailbox:write',
  'mailbox:delete',
  'org:read',
  'webhook:create',
  'webhook:read',
  'webhook:manage',
];
const scopes = (description: string) => choice('--scope <scope...>', description, SCOPES);

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('Manage API keys; for a signed-in admin (login --browser)');
  addList(
    keys,
    'List API keys',
    ['id', 'name', 'keyHint', 'lastUsedAt', 'expiresAt', 'mailboxGroups', 'scopes'],
    'There is no key.',
    (service, page) => service.keys.list(page),
  );
  keys
    .command('show')
    .description('Show an API key; the key itself is shown only when it is created')
    .argument('<id>', 'key_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.keys.get(id))));
  keys
    .command('create')
    .description('Create an API key. It is shown only now')
    .argument('<name>', 'for people')
    .addOption(scopes('what it may do').makeOptionMandatory())
    .option('--expires <time>', 'ISO 8601; default: never')
    .option('--group <name...>', 'limited to the mailboxes of these groups; default: all')
    .action(
      withOrganization<KeyOptions>(async ({ service, args: [name = ''], options }) =>
        shown(
          await service.keys.create({
            name,
            scopes: options.scope ?? [],
            ...given({ expiresAt: options.expires, mailboxGroups: options.group }),
          }),
        ),
      ),
    );
  keys
    .command('update')
    .description('Change an API key')
    .argument('<id>', 'key_…')
    .option('--name <text>', 'for people')
    .addOption(scopes('all scopes it has afterwards'))
    .option('--expires <time>', 'ISO 8601')
    .option('--group <name...>', 'replaces the groups of mailboxes that it is limited to')
    .action(
      withOrganization<KeyOptions>(async ({ service, args: [id = ''], options }) => {
        const { name, scope, expires: expiresAt, group: mailboxGroups } = options;
        return shown(await service.keys.update(id, given({ name, scopes: scope, mailboxGroups, expiresAt })));
      }),
    );
  addDeletion(keys, 'End an API key at once', 'key_…', 'ends at once', (service, id) => service.keys.delete(id));
}
