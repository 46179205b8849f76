/** `aliases`: further addresses of the mailbox. */
import type { Command } from 'commander';
import { choice, collect, given, type ListOptions, pageOf, withListOptions } from '#cli/command.ts';
import { print, printRows, recordText } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import type { Alias, AliasChanges } from '#client/index.ts';

interface Fields {
  readonly note?: string;
  readonly sender?: string[];
  readonly anybody?: true;
  readonly otherwise?: Alias['otherwise'];
  readonly lock?: true;
  readonly folder?: string;
  readonly expires?: string;
}

const UNLISTED: readonly Alias['otherwise'][] = ['refuse', 'hold'];

const withFields = (command: Command): Command =>
  command
    .option('--note <text>', 'what it is for')
    .option('--sender <address>', 'address or domain whose mail it takes; may be repeated; default: everybody', collect)
    .addOption(choice('--otherwise <how>', 'mail of others is refused with 550, or held for a person', UNLISTED))
    .option('--lock', 'the first author who writes to it becomes its list of senders')
    .option('--folder <name>', 'folder that its mail is filed in')
    .option('--expires <time>', 'from then on it is refused, ISO 8601');

const fieldsOf = ({ note, sender, anybody, otherwise, lock, folder, expires }: Fields): AliasChanges =>
  given({
    note,
    senders: anybody === true ? [] : sender,
    otherwise,
    lockToFirst: lock,
    folder,
    expiresAt: expires,
  });

const aliasText = ({ id, address, note, senders, otherwise, enabled, expiresAt }: Alias): string =>
  recordText({ id, address, note, senders, otherwise, enabled, expiresAt });

export function addAliasCommands(program: Command): void {
  const aliases = program.command('aliases').description('Further addresses of the mailbox, one for each service');
  withListOptions(aliases.command('list').description('List aliases, newest first')).action(
    async (_, command: Command) => {
      const options = command.optsWithGlobals<ListOptions & GlobalOptions>();
      const page = await openSession(options).client.listAliases(pageOf(options));
      printRows(options, page, ['id', 'address', 'note', 'senders', 'enabled', 'expiresAt'], 'There is no alias.');
    },
  );
  withFields(aliases.command('create').description('Create an alias; a random address, unless one is chosen'))
    .option('--local-part <text>', 'part before the @')
    .option('--tag <text>', 'the address of the mailbox with this tag')
    .option('--domain <name>', 'default: that of the mailbox')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<
        Fields & GlobalOptions & { localPart?: string; tag?: string; domain?: string }
      >();
      const { localPart, tag, domain } = options;
      const fields = { ...fieldsOf(options), ...given({ localPart, tag, domain }) };
      const alias = await openSession(options).client.createAlias(fields);
      print(options, alias, () => aliasText(alias));
    });
  withFields(aliases.command('update').description('Change an alias'))
    .argument('<id>', 'als_…')
    .option('--anybody', 'take mail of everybody again')
    .option('--enable', 'take mail again')
    .option('--disable', 'refuse all mail to it')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<Fields & GlobalOptions & { enable?: true; disable?: true }>();
      const enabled = options.disable === true ? false : options.enable;
      const alias = await openSession(options).client.updateAlias(id, { ...fieldsOf(options), ...given({ enabled }) });
      print(options, alias, () => aliasText(alias));
    });
  aliases
    .command('drop')
    .description('Drop an alias: mail to it is refused from then on')
    .argument('<id>', 'als_…')
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      await openSession(options).client.dropAlias(id);
      print(options, { id, dropped: true }, () => `${id} is dropped.`);
    });
}
