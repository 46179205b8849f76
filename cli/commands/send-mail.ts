/** `mail send`, `reply`, `forward`; and of messages that wait to be sent, `mail outbox` and `withdraw`. */
import { text as standardInput } from 'node:stream/consumers';
import type { Command } from 'commander';
import { uploadAttachments } from '#cli/attachments.ts';
import { collect, given, type LetterOptions } from '#cli/command.ts';
import { CommandError } from '#cli/exit-codes.ts';
import { print, printSubmitted, printUntrusted } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { messageId, rememberList } from '#cli/shown-messages.ts';
import { safeLine } from '#cli/terminal-text.ts';
import type { AnswerMessage, MailboxClient, MessageDecision, OutboxMessage } from '#client/index.ts';

interface SendOptions extends LetterOptions {
  readonly clientId?: string;
  readonly resubmits?: string;
  readonly all?: boolean;
}

/** The text of the option, else of a pipe. @throws {CommandError} when a person would have to type it blindly */
async function textOf({ text }: SendOptions, required: boolean): Promise<string | undefined> {
  if (text !== undefined) return text;
  if (!required) return undefined;
  if (!process.stdin.isTTY) return standardInput(process.stdin);
  throw new CommandError('no_text', 'There is no text.', 'Give it by --text, or on standard input.');
}

async function letterOf(client: MailboxClient, options: SendOptions, textRequired: boolean): Promise<AnswerMessage> {
  const { from, to, cc, bcc, subject, html, attach = [], clientId, resubmits, sendAt } = options;
  const text = await textOf(options, textRequired && html === undefined);
  const attachments = attach.length === 0 ? undefined : await uploadAttachments(client, attach);
  return given({ from, to, cc, bcc, subject, text, html, attachments, clientId, resubmits, sendAt });
}

const withSendOptions = (command: Command): Command =>
  command
    .option('--from <alias>', 'alias to write as; default of a reply: the one that the message came to')
    .option('--cc <address>', 'copy to; may be repeated', collect)
    .option('--bcc <address>', 'blind copy to; may be repeated', collect)
    .option('--text <text>', 'the text; default: read from standard input')
    .option('--html <html>', 'the text as HTML')
    .option('--attach <file>', 'file to attach; may be repeated', collect)
    .option(
      '--send-at <time>',
      'time to send it, ISO 8601, such as 2026-12-01T09:00:00Z; `mail withdraw <id>` withdraws it',
    )
    .option('--resubmits <consent>', 'con_… of a message that was sent back with a comment: this is the changed one')
    .option(
      '--client-id <id>',
      'id of your own: a second message with the same id is not sent, and the first one is shown',
    );

export function addSendCommands(mail: Command): void {
  withSendOptions(
    mail
      .command('send')
      .description('Send a message. A message held for approval is not a failure: exit code 0, do not send it again')
      .requiredOption('--to <address>', 'recipient, `a@b.c` or `Name <a@b.c>`; may be repeated', collect)
      .requiredOption('--subject <text>', 'subject'),
  ).action(async (_, command: Command) => {
    const options = command.optsWithGlobals<SendOptions>();
    const { client } = openSession(options);
    const letter = await letterOf(client, options, true);
    printSubmitted(options, await client.sendMessage({ ...letter, subject: options.subject ?? '' }));
  });
  withSendOptions(
    mail
      .command('reply')
      .description('Reply to a message')
      .argument('<message>', 'number in the last list, or id')
      .option('--all', 'reply to all')
      .option('--to <address>', 'additional recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (message: string, _, command: Command) => {
    const options = command.optsWithGlobals<SendOptions>();
    const session = openSession(options);
    const id = await messageId(session, message);
    const { client } = session;
    const letter = await letterOf(client, options, true);
    printSubmitted(options, options.all === true ? await client.replyAll(id, letter) : await client.reply(id, letter));
  });
  withSendOptions(
    mail
      .command('forward')
      .description('Forward a whole message')
      .argument('<message>', 'number in the last list, or id')
      .requiredOption('--to <address>', 'recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (message: string, _, command: Command) => {
    const options = command.optsWithGlobals<SendOptions>();
    const session = openSession(options);
    const id = await messageId(session, message);
    printSubmitted(options, await session.client.forward(id, await letterOf(session.client, options, false)));
  });
}

const LIMIT_MAX = 100;

/** A decision in one line. */
export function decisionText({ outcome, reason, changes }: MessageDecision): string {
  const changed = changes === null ? [] : [`changed ${Object.keys(changes).join(', ')}`];
  return [outcome, ...(reason === null || reason === outcome ? [] : [safeLine(reason)]), ...changed].join(' · ');
}

const rowOf = (message: OutboxMessage, number: number): string =>
  [
    [
      String(number).padStart(2),
      message.state.padEnd(9),
      message.recipients.map(({ address }) => safeLine(address)).join(', '),
      safeLine(message.subject) || '(no subject)',
    ].join('  '),
    ...(message.decision === null ? [] : [`    ${decisionText(message.decision)}`]),
    ...(message.reason === null || message.decision !== null ? [] : [`    ${safeLine(message.reason)}`]),
  ].join('\n');

export function addOutboxCommands(mail: Command): void {
  mail
    .command('outbox')
    .description('List messages that are held, scheduled or queued, and those decided or failed within 24 hours')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const page = await session.client.listOutbox({ limit: LIMIT_MAX });
      rememberList(session, page.data);
      const data = page.data.map((message, i) => ({ number: i + 1, ...message }));
      const printed = page.data.length === 0 ? print : printUntrusted;
      printed(options, { ...page, data }, () =>
        page.data.length === 0
          ? 'No message waits to be sent.'
          : page.data.map((message, i) => rowOf(message, i + 1)).join('\n'),
      );
    });
  mail
    .command('withdraw')
    .description('Withdraw a held, scheduled or queued message; the draft it was made from is restored')
    .argument('<message>', 'number in the last list, or id')
    .action(async (message: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const withdrawn = await session.client.withdraw(await messageId(session, message));
      print(options, withdrawn, () =>
        withdrawn.draftId === null ? 'Withdrawn.' : `Withdrawn; the draft ${withdrawn.draftId} is back.`,
      );
    });
}
