/** `mail wait`, `mail extracts`: one-time codes and links. */
import type { Command } from 'commander';
import { given, wholeNumber } from '#cli/command.ts';
import { EXIT } from '#cli/exit-codes.ts';
import { print, printUntrusted, remark } from '#cli/output.ts';
import { type GlobalOptions, openSession, type Session } from '#cli/session.ts';
import { handedOutOf, messageId, rememberList } from '#cli/shown-messages.ts';
import { safeLine } from '#cli/terminal-text.ts';
import {
  type ArrivedMessage,
  type MessageSummary,
  type WaitAnswer,
  type WaitQuery,
  waitForRecent,
} from '#client/index.ts';
import { messageRow, verificationOf } from './read-mail.ts';
import { decisionText } from './send-mail.ts';

interface WaitOptions extends GlobalOptions {
  readonly timeout: number;
  readonly from?: string;
  readonly subject?: string;
  readonly folder?: string;
  readonly after?: string;
  readonly since?: string;
  readonly consent?: string;
  readonly extract?: NonNullable<WaitQuery['extract']>;
}

const TIMEOUT_DEFAULT_SECONDS = 60;
const TIMEOUT_MAX_SECONDS = 3_600;

async function waitFor(session: Session, options: WaitOptions): Promise<WaitAnswer> {
  const { timeout, from, subject, folder, extract, after, since, consent: consentId } = options;
  const query = { ...given({ from, subject, folder, extract, after, since, consentId }), timeoutSeconds: timeout };
  return waitForRecent((each) => session.client.waitForMessages(each), query, handedOutOf(session));
}

const arrivedText = (message: ArrivedMessage, number: number): string =>
  [messageRow(message, number, 1), ...extractLines(message, message).map((line) => `    ${line}`)].join('\n');

export function addWaitCommand(mail: Command): void {
  mail
    .command('wait')
    .description('Wait until mail arrives, and list it. Exit code 6 if none arrived in time')
    .option(
      '--timeout <seconds>',
      `maximum time, up to ${TIMEOUT_MAX_SECONDS}`,
      wholeNumber(TIMEOUT_MAX_SECONDS),
      TIMEOUT_DEFAULT_SECONDS,
    )
    .option('--from <text>', 'only messages whose sender contains this text')
    .option('--subject <text>', 'only messages whose subject contains this text')
    .option('--folder <name>', 'only in this folder')
    .option('--after <place>', 'messages after this message id, or after an earlier answer')
    .option(
      '--since <time>',
      'messages since this time, ISO 8601; default: the last two minutes, without those that `mail wait` showed',
    )
    .option('--consent <id>', 'wait for the decision about a held message instead of mail')
    .option('--extract <what>', 'otp, links or otp,links: show the one-time code or the links')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<WaitOptions>();
      const session = openSession(options);
      const answer = await waitFor(session, options);
      if (answer.timedOut) {
        process.exitCode = EXIT.nothingCame;
        if (options.json !== true)
          return remark(`Nothing arrived in ${options.timeout} s. ${safeLine(answer.hint ?? '')}`.trim());
      } else if (answer.consent !== null) {
        const { consent } = answer;
        return printUntrusted(options, answer, () => `${consent.messageId}: ${decisionText(consent.decision)}`);
      } else rememberList(session, answer.data);
      const data = answer.data.map((message, i) => ({ number: i + 1, ...message }));
      const printed = data.length === 0 ? print : printUntrusted;
      printed(options, { ...answer, data }, () =>
        answer.data.map((message, i) => arrivedText(message, i + 1)).join('\n'),
      );
    });
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Who sent the message: a code or a link is worth as much as its sender. */
type Sender = Pick<MessageSummary, 'from' | 'authentication'>;

/** A line for the code, or for each number that may be one, and a line for each link, each with the sender. */
function extractLines(
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
