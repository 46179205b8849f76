/** `mail send`, `reply`, `forward`. */
import type { Command } from 'commander';
import type { AnswerMessage } from '../../client/index.ts';
import { attachmentOf } from '../attachments.ts';
import { CommandError } from '../exit-codes.ts';
import { messageId } from '../message-numbers.ts';
import { printSubmitted } from '../output.ts';
import { readStandardInput } from '../read-input.ts';
import { type GlobalOptions, openSession } from '../session.ts';

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

async function letterOf(options: LetterOptions, textRequired: boolean): Promise<AnswerMessage> {
  const { to, cc, bcc, subject, html, attach = [], clientId, sendAt } = options;
  const text = await textOf(options, textRequired && html === undefined);
  return {
    ...(to === undefined ? {} : { to }),
    ...(cc === undefined ? {} : { cc }),
    ...(bcc === undefined ? {} : { bcc }),
    ...(subject === undefined ? {} : { subject }),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(attach.length === 0 ? {} : { attachments: attach.map(attachmentOf) }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(sendAt === undefined ? {} : { sendAt }),
  };
}

const withLetterOptions = (command: Command): Command =>
  command
    .option('--cc <address>', 'copy to; may be repeated', collect)
    .option('--bcc <address>', 'copy nobody sees; may be repeated', collect)
    .option('--text <text>', 'the text; without it standard input is read')
    .option('--html <html>', 'the text as HTML')
    .option('--attach <file>', 'file to attach; may be repeated', collect)
    .option(
      '--send-at <time>',
      'when it goes, ISO 8601, such as 2026-12-01T09:00:00Z; `mail delete <id>` takes it back',
    )
    .option('--client-id <id>', 'your own id: sending with it again sends nothing and answers the first message');

export function addSendCommands(mail: Command): void {
  withLetterOptions(
    mail
      .command('send')
      .description('Send a message. What is held for approval is no failure: exit code 0, do not send it again')
      .requiredOption('--to <address>', 'recipient, `a@b.c` or `Name <a@b.c>`; may be repeated', collect)
      .requiredOption('--subject <text>', 'subject'),
  ).action(async (_, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const { client } = openSession(options);
    const letter = await letterOf(options, true);
    printSubmitted(options, await client.sendMessage({ ...letter, subject: options.subject ?? '' }));
  });
  withLetterOptions(
    mail
      .command('reply')
      .description('Answer a message')
      .argument('<message>', 'number of the last list, or id')
      .option('--all', 'to everybody who got it')
      .option('--to <address>', 'further recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
    const letter = await letterOf(options, true);
    const { client } = session;
    printSubmitted(options, options.all === true ? await client.replyAll(id, letter) : await client.reply(id, letter));
  });
  withLetterOptions(
    mail
      .command('forward')
      .description('Hand a message on, whole')
      .argument('<message>', 'number of the last list, or id')
      .requiredOption('--to <address>', 'recipient; may be repeated', collect)
      .option('--subject <text>', 'another subject'),
  ).action(async (given: string, _, command: Command) => {
    const options = command.optsWithGlobals<LetterOptions>();
    const session = openSession(options);
    const id = await messageId(session, given);
    printSubmitted(options, await session.client.forward(id, await letterOf(options, false)));
  });
}
