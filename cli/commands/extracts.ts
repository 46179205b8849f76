/** `mail extracts`, and how codes and links are shown. */
import type { Command } from 'commander';
import { messageId } from '#cli/message-numbers.ts';
import { print, printUntrusted } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import type { ArrivedMessage, MessageSummary } from '#client/index.ts';
import { verificationOf } from './read-mail.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Who sent the message: a code or a link is worth as much as its sender. */
type Sender = Pick<MessageSummary, 'from' | 'authentication'>;

/** A line for the code, or for each number that may be one, and a line for each link, each with the sender. */
export function extractLines(
  { otp, otpCandidates, links }: Pick<ArrivedMessage, 'otp' | 'otpCandidates' | 'links'>,
  sender: Sender,
): string[] {
  const by = `  (from ${safeLine(sender.from ?? '') || 'nobody'}, ${verificationOf(sender)})`;
  return [
    ...(otp === null
      ? (otpCandidates ?? []).map(({ code, confidence }) => `code? ${safeLine(code)}  ${percent(confidence)}`)
      : [`code  ${safeLine(otp)}`]),
    ...(links ?? []).map(({ url, kind }) => `${kind}  ${safeLine(url)}`),
  ].map((line) => `${line}${by}`);
}

export function addExtractsCommand(mail: Command): void {
  mail
    .command('extracts')
    .description('Show the one-time code and the links of a message; leaves it unread')
    .argument('<message>', 'number in the last list, or id')
    .action(async (given: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const id = await messageId(session, given);
      const extracts = await session.client.getMessageExtracts(id);
      if (options.json === true) return print(options, extracts, () => '');
      const lines = extractLines(extracts, await session.client.getMessage(id, { format: 'metadata' }));
      if (lines.length === 0) return print(options, extracts, () => 'No code and no links.');
      printUntrusted(options, extracts, () => lines.join('\n'));
    });
}
