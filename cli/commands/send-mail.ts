/** `mail send`, `reply`, `forward`. */
import type { Command } from 'commander';
import { uploadAttachments } from '#cli/attachments.ts';
import { CommandError } from '#cli/exit-codes.ts';
import { messageId } from '#cli/message-numbers.ts';
import { collect, type LetterOptions } from '#cli/organization-command.ts';
import { printSubmitted } from '#cli/output.ts';
import { readStandardInput } from '#cli/read-input.ts';
import { openSession } from '#cli/session.ts';
import type { AnswerMessage, MailboxClient } from '#client/index.ts';

interface SendOptions extends LetterOptions {
  readonly clientId?: string;
  readonly all?: boolean;
}

/** The text of the option, else of a pipe. @throws {CommandError} when a person would have to type it blindly */
async function textOf({ text }: SendOptions, required: boolean): Promise<string | undefined> {
  if (text !== undefined) return text;
  if (!required) return undefined;
  if (!process.stdin.isTTY) return readStandardInput();
  throw new CommandError('no_text', 'There is no text.', 'Give it by --text, or on standard input.');
}

async function letterOf(client: MailboxClient, options: SendOptions, textRequired: boolean): Promise<AnswerMessage> {
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

const withSendOptions = (command: Command): Command =>
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
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<SendOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
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
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<SendOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
    printSubmitted(options, await session.client.forward(id, await letterOf(session.client, options, false)));
  });
}
