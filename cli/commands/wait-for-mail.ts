/** `mail wait`. */
import type { Command } from 'commander';
import type { ArrivedMessage, WaitAnswer, WaitQuery } from '../../client/index.ts';
import { EXIT } from '../exit-codes.ts';
import { rememberList } from '../message-numbers.ts';
import { print, remark } from '../output.ts';
import { type GlobalOptions, openSession } from '../session.ts';
import { safeLine } from '../terminal-text.ts';
import { messageRow, wholeNumber } from './read-mail.ts';

interface WaitOptions extends GlobalOptions {
  readonly timeout: number;
  readonly from?: string;
  readonly subject?: string;
  readonly folder?: string;
  readonly after?: string;
  readonly extract?: string;
}

const TIMEOUT_DEFAULT_SECONDS = 60;
const TIMEOUT_MAX_SECONDS = 3_600;
/** One request waits this long at most; longer times are several, none of which misses anything. */
const REQUEST_MAX_SECONDS = 60;

async function waitFor(options: WaitOptions, ask: (query: WaitQuery) => Promise<WaitAnswer>): Promise<WaitAnswer> {
  const { timeout, from, subject, folder, extract } = options;
  const endsAt = performance.now() + timeout * 1_000;
  let { after } = options;
  for (;;) {
    const leftSeconds = Math.ceil((endsAt - performance.now()) / 1_000);
    const answer = await ask({
      timeoutSeconds: Math.max(1, Math.min(REQUEST_MAX_SECONDS, leftSeconds)),
      ...(after === undefined ? {} : { after }),
      ...(from === undefined ? {} : { from }),
      ...(subject === undefined ? {} : { subject }),
      ...(folder === undefined ? {} : { folder }),
      ...(extract === undefined ? {} : { extract }),
    });
    if (!answer.timedOut || performance.now() >= endsAt) return answer;
    after = answer.after;
  }
}

const arrivedText = (message: ArrivedMessage, number: number): string =>
  [
    messageRow(message, number, 1),
    ...(message.otp === null ? [] : [`    code  ${safeLine(message.otp)}`]),
    ...(message.links ?? []).map(({ url, kind }) => `    ${kind}  ${safeLine(url)}`),
  ].join('\n');

export function addWaitCommand(mail: Command): void {
  mail
    .command('wait')
    .description('Wait until mail comes in, and list it. Exit code 6 when none came in time')
    .option(
      '--timeout <seconds>',
      `at most so long, up to ${TIMEOUT_MAX_SECONDS}`,
      wholeNumber(TIMEOUT_MAX_SECONDS),
      TIMEOUT_DEFAULT_SECONDS,
    )
    .option('--from <text>', 'part of the sender')
    .option('--subject <text>', 'part of the subject')
    .option('--folder <name>', 'only in this folder')
    .option('--after <place>', 'what came after a message id, or after an earlier answer; default: from now on')
    .option('--extract <what>', 'otp, links or otp,links: show the one-time code or the links')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<WaitOptions>();
      const session = openSession(options);
      const answer = await waitFor(options, (query) => session.client.waitForMessages(query));
      if (answer.timedOut) {
        process.exitCode = EXIT.nothingCame;
        if (options.json !== true) return remark(`Nothing came in ${options.timeout} s.`);
      } else rememberList(session, answer.data);
      const data = answer.data.map((message, i) => ({ number: i + 1, ...message }));
      print(options, { ...answer, data }, () =>
        answer.data.map((message, i) => arrivedText(message, i + 1)).join('\n'),
      );
    });
}
