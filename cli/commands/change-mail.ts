/** `mail move`, `archive`, `delete`, `flag`, `seen`, `label`. */
import type { Command } from 'commander';
import { collect, given } from '#cli/command.ts';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { print, printUntrusted } from '#cli/output.ts';
import { type GlobalOptions, openSession, type Session } from '#cli/session.ts';
import { messageId } from '#cli/shown-messages.ts';
import { safeLine } from '#cli/terminal-text.ts';
import type { MessageChange, MessageSummary } from '#client/index.ts';

const MESSAGES = 'numbers of the last list, or ids';

/** The ids of all that are given, before the first is changed: one wrong number changes nothing. */
async function idsOf(session: Session, named: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const one of named) ids.push(await messageId(session, one));
  return ids;
}

const lineOf = ({ subject, folders, seen, flagged, labels }: MessageSummary): string =>
  [
    safeLine(subject) || '(no subject)',
    `in ${folders.map(safeLine).join(', ')}`,
    seen ? 'read' : 'unread',
    ...(flagged ? ['flagged'] : []),
    ...(labels.length > 0 ? [`labels ${labels.map(safeLine).join(' ')}`] : []),
  ].join(' · ');

async function change(
  command: Command,
  named: readonly string[],
  changeOf: (session: Session, id: string) => MessageChange | Promise<MessageChange>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const session = openSession(options);
  const changed: MessageSummary[] = [];
  for (const id of await idsOf(session, named))
    changed.push(await session.client.updateMessage(id, await changeOf(session, id)));
  printUntrusted(options, { data: changed }, () => changed.map(lineOf).join('\n'));
}

async function archiveOf({ client }: Session): Promise<string> {
  const folder = (await client.listFolders()).find(({ role }) => role === 'archive');
  if (folder !== undefined) return folder.name;
  throw new CommandError('no_archive', 'This mailbox has no archive.', 'Use mail move with a folder.', EXIT.failed);
}

async function changedLabels(
  { client }: Session,
  id: string,
  { add = [], remove = [] }: { add?: string[]; remove?: string[] },
): Promise<MessageChange> {
  const { labels } = await client.getMessage(id, { format: 'metadata' });
  const gone = new Set(remove.map((label) => label.toLowerCase()));
  return { labels: [...new Set([...labels, ...add])].filter((label) => !gone.has(label.toLowerCase())) };
}

interface BulkOptions {
  readonly folder?: string;
  readonly from?: string;
  readonly subject?: string;
  readonly label?: string;
  readonly unread?: true;
  readonly seen?: true;
  readonly flag?: true;
  readonly add?: string[];
  readonly remove?: string[];
  readonly to?: string;
  readonly delete?: true;
}

/** Repeats the request until no message matches the filters. */
async function changeAll(options: BulkOptions & GlobalOptions): Promise<string[]> {
  const { folder, from, subject, label, unread, seen, flag: flagged, add, remove, to } = options;
  const query = given({ folder, from, subject, label, unread });
  const wanted = given({
    seen,
    flagged,
    addLabels: add,
    removeLabels: remove,
    folder: to,
    delete: options.delete === undefined ? undefined : ('trash' as const),
  });
  const { client } = openSession(options);
  const ids = new Set<string>();
  for (;;) {
    const { messageIds, more } = await client.changeMessages({ query, ...wanted });
    const before = ids.size;
    for (const id of messageIds) ids.add(id);
    // Messages that still match after the change would be changed again and again.
    if (!more || ids.size === before) return [...ids];
  }
}

const MARKS: readonly (readonly [string, string, string, (on: boolean) => MessageChange])[] = [
  ['flag', 'Flag messages', 'remove the flag', (flagged) => ({ flagged })],
  ['seen', 'Mark messages as read', 'mark them as unread', (seen) => ({ seen })],
];

export function addChangeCommands(mail: Command): void {
  mail
    .command('change-all')
    .description('Change or delete all messages that match the filters')
    .option('--folder <name>', 'of this folder; default: INBOX, * for all')
    .option('--from <text>', 'part of the sender')
    .option('--subject <text>', 'part of the subject')
    .option('--label <label>', 'with this label')
    .option('--unread', 'only unread messages')
    .option('--seen', 'mark them as read')
    .option('--flag', 'flag them')
    .option('--add <label>', 'add a label; may be repeated', collect)
    .option('--remove <label>', 'remove a label; may be repeated', collect)
    .option('--to <folder>', 'move them to this folder')
    .option('--delete', 'move them to the trash; those in the trash are removed')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<BulkOptions & GlobalOptions>();
      const ids = await changeAll(options);
      print(options, { messageIds: ids }, () => (ids.length === 1 ? '1 message.' : `${ids.length} messages.`));
    });
  mail
    .command('move')
    .description('Move messages to a folder')
    .argument('<messages...>', MESSAGES)
    .requiredOption('--to <folder>', 'name of the folder')
    .action((named: string[], { to }: { to: string }, command: Command) =>
      change(command, named, () => ({ folder: to })),
    );
  mail
    .command('archive')
    .description('Move messages to the archive')
    .argument('<messages...>', MESSAGES)
    .action((named: string[], _, command: Command) =>
      change(command, named, async (session) => ({ folder: await archiveOf(session) })),
    );
  for (const [name, description, offDescription, changeOf] of MARKS)
    mail
      .command(name)
      .description(description)
      .argument('<messages...>', MESSAGES)
      .option('--off', offDescription)
      .action((named: string[], { off }: { off?: boolean }, command: Command) =>
        change(command, named, () => changeOf(off !== true)),
      );
  mail
    .command('label')
    .description('Add labels to messages, or remove them')
    .argument('<messages...>', MESSAGES)
    .option('--add <label>', 'may be repeated', collect)
    .option('--remove <label>', 'may be repeated', collect)
    .action((named: string[], labels: { add?: string[]; remove?: string[] }, command: Command) =>
      change(command, named, (session, id) => changedLabels(session, id, labels)),
    );
  mail
    .command('delete')
    .description('Move messages to the trash; messages in the trash are removed permanently')
    .argument('<messages...>', MESSAGES)
    .option('--permanent', 'remove them permanently at once')
    .action(async (named: string[], { permanent = false }: { permanent?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const ids = await idsOf(session, named);
      for (const id of ids) await session.client.deleteMessage(id, { permanent });
      print(options, { deleted: ids }, () => `Deleted ${ids.length === 1 ? '1 message' : `${ids.length} messages`}.`);
    });
}
