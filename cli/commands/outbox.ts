/** `mail outbox`, `mail withdraw`. */
import type { Command } from 'commander';
import { messageId, rememberList } from '#cli/message-numbers.ts';
import { print, printUntrusted } from '#cli/output.ts';
import { type GlobalOptions, openSession } from '#cli/session.ts';
import { safeLine } from '#cli/terminal-text.ts';
import type { MessageDecision, OutboxMessage } from '#client/index.ts';

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

function addList(parent: Command): void {
  parent
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
}

function addWithdraw(parent: Command): void {
  parent
    .command('withdraw')
    .description('Withdraw a held, scheduled or queued message; the draft it was made from is restored')
    .argument('<message>', 'number in the last list, or id')
    .action(async (given: string, _, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const session = openSession(options);
      const withdrawn = await session.client.withdraw(await messageId(session, given));
      print(options, withdrawn, () =>
        withdrawn.draftId === null ? 'Withdrawn.' : `Withdrawn; the draft ${withdrawn.draftId} is back.`,
      );
    });
}

/** `mail outbox`, `mail withdraw`. */
export function addOutboxToMail(mail: Command): void {
  addList(mail);
  addWithdraw(mail);
}
