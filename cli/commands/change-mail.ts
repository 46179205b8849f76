/** `mail move`, `archive`, `delete`, `flag`, `seen`, `label`. */
import type { Command } from 'commander';
import type { MessageChange, MessageSummary } from '../../client/index.ts';
import { CommandError, EXIT } from '../exit-codes.ts';
import { messageId } from '../message-numbers.ts';
import { print } from '../output.ts';
import { type GlobalOptions, openSession, type Session } from '../session.ts';
import { safeLine } from '../terminal-text.ts';

const MESSAGES = 'numbers of the last list, or ids';
const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** The ids of all that are given, before the first is changed: one wrong number changes nothing. */
async function idsOf(session: Session, given: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const one of given) ids.push(await messageId(session, one));
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
  given: readonly string[],
  changeOf: (session: Session, id: string) => MessageChange | Promise<MessageChange>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const session = openSession(options);
  const changed: MessageSummary[] = [];
  for (const id of await idsOf(session, given))
    changed.push(await session.client.updateMessage(id, await changeOf(session, id)));
  print(options, { data: changed }, () => changed.map(lineOf).join('\n'));
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

export function addChangeCommands(mail: Command): void {
  mail
    .command('move')
    .description('Move messages to a folder')
    .argument('<messages...>', MESSAGES)
    .requiredOption('--to <folder>', 'name of the folder')
    .action((given: string[], { to }: { to: string }, command: Command) =>
      change(command, given, () => ({ folder: to })),
    );
  mail
    .command('archive')
    .description('Move messages to the archive')
    .argument('<messages...>', MESSAGES)
    .action((given: string[], _, command: Command) =>
      change(command, given, async (session) => ({ folder: await archiveOf(session) })),
    );
  mail
    .command('flag')
    .description('Flag messages')
    .argument('<messages...>', MESSAGES)
    .option('--off', 'take the flag away')
    .action((given: string[], { off }: { off?: boolean }, command: Command) =>
      change(command, given, () => ({ flagged: off !== true })),
    );
  mail
    .command('seen')
    .description('Mark messages as read')
    .argument('<messages...>', MESSAGES)
    .option('--off', 'mark them as unread')
    .action((given: string[], { off }: { off?: boolean }, command: Command) =>
      change(command, given, () => ({ seen: off !== true })),
    );
  mail
    .command('label')
    .description('Add labels to messages, or take them away')
    .argument('<messages...>', MESSAGES)
    .option('--add <label>', 'may be repeated', collect)
    .option('--remove <label>', 'may be repeated', collect)
    .action((given: string[], labels: { add?: string[]; remove?: string[] }, command: Command) =>
      change(command, given, (session, id) => changedLabels(session, id, labels)),
    );
  mail
    .command('delete')
    .description('Move messages to the trash; out of the trash they are removed for good')
    .argument('<messages...>', MESSAGES)
    .option('--permanent', 'remove them for good at once')
    .action(async (given: string[], { permanent = false }: { permanent?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const ids = await idsOf(session, given);
      for (const id of ids) await session.client.deleteMessage(id, { permanent });
      print(options, { deleted: ids }, () => `Deleted ${ids.length === 1 ? '1 message' : `${ids.length} messages`}.`);
    });
}
