/** `mail extracts`, and how codes and links are shown. */
import type { Command } from 'commander';
import { messageId } from '#cli/message-numbers.ts';
import { print } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import type { ArrivedMessage } from '#client/index.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A line for the code, or for each number that may be one, and a line for each link. */
export const extractLines = ({
  otp,
  otpCandidates,
  links,
}: Pick<ArrivedMessage, 'otp' | 'otpCandidates' | 'links'>): string[] => [
  ...(otp === null
    ? (otpCandidates ?? []).map(({ code, confidence }) => `code? ${safeLine(code)}  ${percent(confidence)}`)
    : [`code  ${safeLine(otp)}`]),
  ...(links ?? []).map(({ url, kind }) => `${kind}  ${safeLine(url)}`),
];

export function addExtractsCommand(mail: Command): void {
  mail
    .command('extracts')
    .description('Show the one-time code and the links of a message; leaves it unread')
    .argument('<message>', 'number in the last list, or id')
    .action(async (given: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const extracts = await session.client.getMessageExtracts(await messageId(session, given));
      print(options, extracts, () => extractLines(extracts).join('\n') || 'No code and no links.');
    });
}
