/** `mail send`, `reply`, `forward`. */
import type { Command } from 'commander';
import { uploadAttachments } from '#cli/attachments.ts';
import { CommandError } from '#cli/exit-codes.ts';
import { messageId } from '#cli/message-numbers.ts';
import { printSubmitted } from '#cli/output.ts';
import { readStandardInput } from '#cli/read-input.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import type { AnswerMessage, MailboxClient } from '#client/index.ts';

interface LetterOptions extends GlobalOptions {
  readonly to?: string[];
  readonly cc?: string[];
  readonly bcc?: string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: string[];
  readonly clientId?: string;
  readonly sendAt?: string;
  readonly all?: boolean;
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** The text of the option, else of a pipe. @throws {CommandError} when a person would have to type it blindly */
async function textOf({ text }: LetterOptions, required: boolean): Promise<string | undefined> {
  if (text !== undefined) return text;
  if (!required) return undefined;
  if (!process.stdin.isTTY) return readStandardInput();
  throw new CommandError('no_text', 'There is no text.', 'Give it by --text, or on standard input.');
}

async function letterOf(client: MailboxClient, options: LetterOptions, textRequired: boolean): Promise<AnswerMessage> {
  const { to, cc, bcc, subject, html, attach = [], clientId, sendAt } = options;
  const text = await textOf(options, textRequired && html === undefined);
  return {
    ...(to === undefined ? {} : { to }),
    ...(cc === undefined ? {} : { cc }),
    ...(bcc === undefined ? {} : { bcc }),
    ...(subject === undefined ? {} : { subject }),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(attach.length === 0 ? {} : { attachments: await uploadAttachments(client, attach) }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(sendAt === undefined ? {} : { sendAt }),
  };
}

const withLetterOptions = (command: Command): Command =>
  command
    .option('--cc <address>', 'copy to; may be repeated', collect)
    .option('--bcc <address>', 'blind copy to; may be repeated', collect)
    .option('--text <text>', 'the text; default: read from standard input')
    .option('--html <html>', 'the text as HTML')
    .option('--attach <file>', 'file to attach; may be repeated', collect)
    .option(
      '--send-at <time>',
      'time to send it, ISO 8601, such as 2026-12-01T09:00:00Z; `mail withdraw <id>` withdraws it',
    )
    .option(
      '--client-id <id>',
      'id of your own: a second message with the same id is not sent, and the first one is shown',
    );

export function addSendCommands(mail: Command): void {
  withLetterOptions(
    mail
      .command('send')
      .description('Send a message. A message held for approval is not a failure: exit code 0, do not send it again')
      .requiredOption('--to <address>', 'recipient, `a@b.c` or `Name <a@b.c>`; may be repeated', collect)
      .requiredOption('--subject <text>', 'subject'),
  ).action(async (_, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const { client } = openSession(options);
    const letter = await letterOf(client, options, true);
    printSubmitted(options, await client.sendMessage({ ...letter, subject: options.subject ?? '' }));
  });
  withLetterOptions(
    mail
      .command('reply')
      .description('Reply to a message')
      .argument('<message>', 'number in the last list, or id')
      .option('--all', 'reply to all')
      .option('--to <address>', 'additional recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
    const { client } = session;
    const letter = await letterOf(client, options, true);
    printSubmitted(options, options.all === true ? await client.replyAll(id, letter) : await client.reply(id, letter));
  });
  withLetterOptions(
    mail
      .command('forward')
      .description('Forward a whole message')
      .argument('<message>', 'number in the last list, or id')
      .requiredOption('--to <address>', 'recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
    printSubmitted(options, await session.client.forward(id, await letterOf(session.client, options, false)));
  });
}
