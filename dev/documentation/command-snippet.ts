/** Commands of the command line, with the arguments that each one needs. */
import type { Argument, Command, Option } from 'commander';
import type { Route } from '#api/http/route.ts';
import { ID_PREFIXES, type IdKind } from '#domain/ids.ts';
import { sampleId, shellWord } from './sample-request.ts';

const KINDS = Object.entries(ID_PREFIXES) as [IdKind, string][];

/** Values of arguments that are no ids, by their names; of options, by their flags. */
const VALUES: Readonly<Record<string, string>> = {
  'local-part': 'order-desk',
  attachment: '2',
  name: 'example.com',
  url: 'https://example.com/hooks',
  words: 'invoice',
  '--to': 'ada@example.org',
  '--subject': 'Your order',
  '--since': '2026-11-01T00:00:00.000Z',
  '--event': 'email_received',
  '--forward': 'http://localhost:3000/hook',
};

/** Options that are not mandatory, and without which a command does nothing or asks. */
const MORE: Readonly<Record<string, string>> = {
  'mail send': "--text 'It is on its way.'",
  'mail reply': "--text 'Thank you.'",
  'mail forward': "--text 'For you.'",
  'mail label': '--add important',
  'mail withdraw': '',
  'drafts create': "--to ada@example.org --subject 'Your order' --text 'It is on its way.'",
  'drafts update': "--text 'It has arrived.'",
  'mailboxes update': '--mode drafts_only',
  'webhooks update': '--no-active',
  'keys update': "--name 'Build server'",
};
/** Commands whose `--to` is no address, or whose argument of a common name is another. */
const OWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mail move': { '--to': 'Archive' },
  'keys create': { name: 'Build server' },
};

function argumentValue(command: string, argument: Argument): string {
  const name = argument.name();
  if (name === 'message' || name === 'messages') return command === 'mail status' ? sampleId('message') : '1';
  const kind = KINDS.find(([, prefix]) => argument.description.startsWith(prefix))?.[0];
  return OWN[command]?.[name] ?? (kind === undefined ? (VALUES[name] ?? name) : sampleId(kind));
}

function optionWords(command: string, { long, argChoices }: Option): string {
  const flag = long ?? '';
  return `${flag} ${shellWord(OWN[command]?.[flag] ?? argChoices?.[0] ?? VALUES[flag] ?? 'value')}`;
}

const find = (command: Command, names: readonly string[]): Command | undefined => {
  const [name, ...rest] = names;
  if (name === undefined) return command;
  const child = command.commands.find((each) => each.name() === name);
  return child === undefined ? undefined : find(child, rest);
};

/** Commands that ask a route beside other things: no example of it. */
const BESIDE = ['login', 'logout', 'webhooks listen'];

interface Chosen {
  readonly command: string;
  readonly words?: string;
}
const REPLY_ALL: Chosen = { command: 'mail reply', words: '--all' };
const ATTACH: Chosen = { command: 'mail send', words: '--attach report.pdf' };
const FOLDERS: Chosen = { command: 'mail folders' };
const OPEN: Chosen = { command: 'mail open' };
/** Operations that are reached by one option of a command, or better by one of several commands. */
const CHOSEN: Readonly<Record<string, Chosen>> = {
  replyToAllOfMessage: REPLY_ALL,
  replyToAllOfMailboxMessage: REPLY_ALL,
  uploadFile: ATTACH,
  uploadMailboxFile: ATTACH,
  listFolders: FOLDERS,
  listMailboxFolders: FOLDERS,
  getMessage: OPEN,
  getMailboxMessage: OPEN,
  testWebhook: { command: 'webhooks trigger', words: sampleId('webhookEndpoint') },
  openReceiver: { command: 'webhooks receiver', words: '--open' },
};

/** Commands of a mailbox, with the credential of its organization. */
const isOfOneMailbox = ({ path }: Route, names: string): boolean =>
  path.startsWith('/api/mailboxes/:id/') && !names.startsWith('mailboxes ');

/**
 * A command with the options that it requires, those that make it useful, and the confirmation of one that deletes.
 *
 * @param reaching names of the commands that reach the route
 */
export function commandSnippet(program: Command, reaching: readonly string[], route: Route): string | undefined {
  const chosen = CHOSEN[route.operationId];
  const names = chosen?.command ?? reaching.find((each) => !BESIDE.includes(each));
  const command = names === undefined ? undefined : find(program, names.split(' '));
  if (names === undefined || reaching.length === 0) return undefined;
  if (command === undefined) return undefined;
  const needed = command.options.filter(({ mandatory }) => mandatory);
  const words = [
    ...command.registeredArguments
      .filter(({ required }) => required)
      .map((each) => shellWord(argumentValue(names, each))),
    ...needed.map((each) => optionWords(names, each)),
    MORE[names] ?? '',
    chosen?.words ?? '',
    command.options.some(({ long }) => long === '--yes') ? '--yes' : '',
    isOfOneMailbox(route, names) ? `--mailbox ${sampleId('mailbox')}` : '',
  ];
  return ['agent-mailbox', names, ...words.filter((word) => word !== '')].join(' ');
}
