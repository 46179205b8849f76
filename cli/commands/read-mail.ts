/** `mail inbox`, `search`, `open`, `raw`, `attachment`, `folders`, `status`; `threads`. */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ListOptions, given as optional, pageOf, wholeNumber, withListOptions } from '#cli/command.ts';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { facts, print, printRows, printUntrusted, remark, styled } from '#cli/output.ts';
import { type GlobalOptions, openSession, type Session } from '#cli/session.ts';
import { INBOX, LIST_LIMIT, messageId, rememberList } from '#cli/shown-messages.ts';
import { fit, safeFilename, safeLine, safeText } from '#cli/terminal-text.ts';
import {
  ApiError,
  type Attachment,
  type Download,
  type Message,
  type MessageSignal,
  type MessageStatus,
  type MessageSummary,
  type OutboxMessage,
  type Page,
} from '#client/index.ts';
import { decisionText } from './send-mail.ts';

const LIMIT_MAX = 200;
const PLAIN_COLUMNS = 100;
const FROM_COLUMNS = 24;
const KIBIBYTE = 1_024;

interface SearchOptions extends GlobalOptions {
  readonly limit: number;
  readonly folder?: string;
  readonly unread?: boolean;
  readonly from?: string;
  readonly subject?: string;
}

/** Day and minute of the local time zone; the same form in every locale. */
function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Whether the domain of the sender is proven; mail that did not come from outside is of this service. */
export function verificationOf({ authentication }: Pick<MessageSummary, 'authentication'>): string {
  if (authentication === null) return 'not from outside';
  const { result } = authentication.dmarc;
  return result === 'pass' ? 'verified (DMARC pass)' : `not verified (DMARC ${result})`;
}

/** `Ann Example` of `Ann Example <ann@example.com>`. */
const shortSender = (from: string | null): string => {
  const line = safeLine(from ?? '');
  return /^(.+?)\s*<[^>]*>$/.exec(line)?.[1]?.replace(/^"(.*)"$/, '$1') ?? line;
};

/** A message as a line of a list. */
export function messageRow(message: MessageSummary, number: number, digits: number): string {
  const marks = `${message.seen ? ' ' : '●'}${message.flagged ? '⚑' : ' '}${message.attachments.length > 0 ? '+' : ' '}`;
  const head = `${String(number).padStart(digits)} ${marks} ${localTime(message.receivedAt)}  `;
  const room = Math.max((process.stdout.columns ?? PLAIN_COLUMNS) - head.length - FROM_COLUMNS - 2, 20);
  const line = `${head}${fit(shortSender(message.from), FROM_COLUMNS)}  ${fit(safeLine(message.subject) || '(no subject)', room)}`;
  return message.seen ? line.trimEnd() : styled('bold', line.trimEnd());
}

function printList(options: GlobalOptions, session: Session, page: Page<MessageSummary>, empty: string): void {
  rememberList(session, page.data);
  const numbered = page.data.map((message, i) => ({ number: i + 1, ...message }));
  const digits = String(page.data.length).length;
  const printed = page.data.length === 0 ? print : printUntrusted;
  printed(options, { data: numbered, nextCursor: page.nextCursor }, () =>
    page.data.length === 0 ? empty : page.data.map((message, i) => messageRow(message, i + 1, digits)).join('\n'),
  );
  if (page.nextCursor !== null && options.json !== true) remark(styled('dim', 'There are more; see --limit.'));
}

const attachmentLine = ({ id, filename, contentType, sizeBytes, risks }: Attachment): string =>
  `${id}  ${safeLine(filename ?? '(no name)')}  ${safeLine(contentType)}, ${Math.ceil(sizeBytes / KIBIBYTE)} KiB${riskWords(risks)}`;

export const riskWords = (risks: Attachment['risks']): string =>
  risks.length === 0 ? '' : `  (careful: ${risks.join(', ')})`;

const WHERE: Readonly<Record<MessageSignal['place'], string>> = {
  seen: '',
  hidden: ' (hidden)',
  encoded: ' (encoded)',
};

/** `commands assistant (hidden): ignore_instructions`. */
const signalText = ({ kind, place, details }: MessageSignal): string =>
  `${kind.replaceAll('_', ' ')}${WHERE[place]}${details.length > 0 ? `: ${details.map(safeLine).join(', ')}` : ''}`;

function messageText(message: Message): string {
  const people = (list: readonly string[]): string => list.map(safeLine).join(', ');
  const head = facts([
    ['From', safeLine(message.from ?? '')],
    ['To', people(message.to)],
    ...(message.cc.length > 0 ? [['Cc', people(message.cc)] as const] : []),
    ['Date', localTime(message.sentAt ?? message.receivedAt)],
    ['Subject', safeLine(message.subject)],
    ...(message.authentication === null ? [] : [['Sender', verificationOf(message)] as const]),
    ...(message.signals ?? []).map((signal) => ['Careful', signalText(signal)] as const),
    ...(message.labels.length > 0 ? [['Labels', people(message.labels)] as const] : []),
    ...message.attachments.map((attachment) => ['Attachment', attachmentLine(attachment)] as const),
    ['Id', message.id],
  ]);
  const text = safeText(message.text ?? '').trimEnd();
  return `${head}\n\n${text}${message.truncated ? '\n\n(cut; `mail raw` has all of it)' : ''}`;
}

/** A message that waits to be sent is not in the mailbox; the outbox says what is known of it. @throws the error */
async function notStored({ client }: Session, id: string, error: unknown): Promise<OutboxMessage> {
  if (!(error instanceof ApiError) || error.status !== NOT_FOUND) throw error;
  const { data } = await client.listOutbox({ limit: OUTBOX_LIMIT });
  const waiting = data.find((message) => message.id === id);
  if (waiting === undefined) throw error;
  return waiting;
}
const NOT_FOUND = 404;
const OUTBOX_LIMIT = 100;

function waitingText(message: OutboxMessage): string {
  const { state, reason, recipients, subject, preview, sendAt, decision, id } = message;
  const head = facts([
    ['State', state],
    ...(reason === null ? [] : [['Reason', safeLine(reason)] as const]),
    ...(decision === null ? [] : [['Decision', decisionText(decision)] as const]),
    ...(sendAt === null ? [] : [['Goes at', localTime(sendAt)] as const]),
    ['To', recipients.map(({ address }) => safeLine(address)).join(', ')],
    ['Subject', safeLine(subject)],
    ['Id', id],
  ]);
  return `${head}\n\n${safeText(preview).trimEnd()}`;
}

async function openMessage(given: string, options: GlobalOptions & { peek?: boolean }): Promise<void> {
  const session = openSession(options);
  const id = await messageId(session, given);
  const message = await session.client.getMessage(id).catch((error: unknown) => notStored(session, id, error));
  if (!('authentication' in message)) return printUntrusted(options, message, () => waitingText(message));
  const opened = options.peek === true || message.seen ? message : { ...message, seen: true };
  if (opened !== message) await session.client.updateMessage(id, { seen: true });
  printUntrusted(options, opened, () => messageText(message));
}

/** Bytes to a file, or to standard output if that is not a terminal. */
function save(
  options: GlobalOptions & { output?: string },
  { bytes, contentType }: Download,
  file: string | undefined,
): void {
  if (file === '-' || (file === undefined && !process.stdout.isTTY && options.json !== true)) {
    process.stdout.write(bytes);
    return;
  }
  if (file === undefined)
    throw new CommandError(
      'no_output',
      'Bytes of a mail are not written to a terminal.',
      'Give a file: --output <file>',
    );
  try {
    writeFileSync(file, bytes, { flag: 'wx' });
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new CommandError(
      'not_written',
      exists ? `${file} exists already.` : `${file} was not written: ${error instanceof Error ? error.message : error}`,
      'Give another file: --output <file>',
      EXIT.failed,
    );
  }
  // Its sender may have chosen the name.
  const printed = options.output === undefined ? printUntrusted : print;
  printed(options, { file, contentType, sizeBytes: bytes.length }, () => `Saved ${file} (${bytes.length} bytes).`);
}

function statusText(status: MessageStatus): string {
  return [
    facts([
      ['Status', status.status],
      ['Submitted', localTime(status.submittedAt)],
      ...(status.sendAt === null ? [] : [['Goes at', localTime(status.sendAt)] as const]),
      ...(status.consentId === null ? [] : [['Consent', status.consentId] as const]),
    ]),
    ...status.recipients.map(({ address, status: of, code, reply, nextAttemptAt }) =>
      [
        `  ${safeLine(address)}  ${of}`,
        code === null ? '' : `  ${safeLine(code)}`,
        reply === null ? '' : `  ${safeLine(reply)}`,
        nextAttemptAt === null ? '' : `  next try ${localTime(nextAttemptAt)}`,
      ].join(''),
    ),
  ].join('\n');
}

export function addReadCommands(mail: Command): void {
  mail
    .command('inbox')
    .description('List messages, newest first, with numbers for the other commands')
    .option('--unread', 'only unread messages')
    .option('--limit <n>', `maximum number of messages, up to ${LIMIT_MAX}`, wholeNumber(LIMIT_MAX), LIST_LIMIT)
    .option('--folder <name>', 'folder to list', INBOX)
    .option('--from <text>', 'only messages whose sender contains this text')
    .option('--subject <text>', 'only messages whose subject contains this text')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>();
      const session = openSession(options);
      const { limit, folder, unread, from, subject } = options;
      const page = await session.client.listMessages({ limit, ...optional({ folder, unread, from, subject }) });
      printList(options, session, page, `No ${unread === true ? 'unread ' : ''}messages in ${folder}.`);
    });
  mail
    .command('search')
    .description('Find messages by their words; "a phrase", -without and or are supported')
    .argument('<words...>')
    .option('--limit <n>', `maximum number of messages, up to ${LIMIT_MAX}`, wholeNumber(LIMIT_MAX), LIST_LIMIT)
    .option('--folder <name>', 'only in this folder')
    .action(async (words: string[], _, command: Command) => {
      const options = command.optsWithGlobals<SearchOptions>();
      const session = openSession(options);
      const { limit, folder } = options;
      const page = await session.client.searchMessages({ q: words.join(' '), limit, ...optional({ folder }) });
      printList(options, session, page, 'Nothing found.');
    });
  mail
    .command('open')
    .description('Read a message and mark it as read')
    .argument('<message>', 'number in the last list, or id')
    .option('--peek', 'leave it unread')
    .action((given: string, _, command: Command) => openMessage(given, command.optsWithGlobals()));
  mail
    .command('raw')
    .description('Save the message byte for byte')
    .argument('<message>', 'number in the last list, or id')
    .option('-o, --output <file>', 'file; - is standard output')
    .action(async (given: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { output?: string }>();
      const session = openSession(options);
      save(options, await session.client.getRawMessage(await messageId(session, given)), options.output);
    });
  mail
    .command('attachment')
    .description('Save an attachment under its own name in this folder')
    .argument('<message>', 'number in the last list, or id')
    .argument('<attachment>', 'its id, as `mail open` shows it')
    .option('-o, --output <file>', 'another file; - is standard output')
    .action(async (given: string, attachmentId: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { output?: string }>();
      const session = openSession(options);
      const download = await session.client.getAttachment(await messageId(session, given), attachmentId);
      const file = options.output ?? safeFilename(download.filename ?? '', `attachment-${attachmentId}`);
      save(options, download, file);
    });
  mail
    .command('folders')
    .description('List the folders')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const folders = await openSession(options).client.listFolders();
      print(options, { data: folders }, () =>
        facts(folders.map(({ name, messages, unread }) => [safeLine(name), `${messages}, ${unread} unread`])),
      );
    });
  mail
    .command('status')
    .description('Show the status of a message you sent')
    .argument('<message>', 'id of the message, as `mail send` showed it')
    .action(async (given: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const status = await session.client.messageStatus(await messageId(session, given));
      printUntrusted(options, status, () => statusText(status));
    });
}

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
