/** `consents`. */
import type { Command } from 'commander';
import {
  choice,
  given,
  type ListOptions,
  listed,
  ofOthers,
  pageOf,
  said,
  shown,
  withListOptions,
  withOrganization,
} from '#cli/command.ts';
import { recordText } from '#cli/output.ts';
import { safeLine, safeText } from '#cli/terminal-text.ts';
import type { Consent, ConsentMessage, ConsentScope } from '#client/index.ts';
import { riskWords } from './read-mail.ts';

interface QueueOptions {
  readonly status?: Consent['status'];
  readonly order?: 'newest' | 'oldest';
  readonly recipient?: string;
  readonly search?: string;
}

export function addConsentCommands(program: Command): void {
  const consents = program
    .command('consents')
    .description('Decide about held messages. A decision is a person’s: sign in by login --browser');
  withListOptions(consents.command('list').description('List requests'))
    .addOption(choice('--status <status>', 'only these', ['pending', 'approved', 'denied']))
    .addOption(choice('--order <order>', 'which comes first; default newest', ['newest', 'oldest']))
    .option('--recipient <address>', 'only about this address or domain')
    .option('--search <text>', 'only with this in a recipient, the subject or the first words')
    .action(
      withOrganization<ListOptions & QueueOptions>(
        ({ service, options: { status, order, recipient, search, ...page } }) =>
          ofOthers(
            listed(
              service.consents.list({ ...pageOf(page), ...given({ status, order, recipient, q: search }) }),
              ['id', 'status', 'recipients', 'subject', 'heldBecause', 'expiresAt'],
              'Nothing waits for a decision.',
            ),
          ),
      ),
    );
  consents
    .command('summary')
    .description('Count what waits for a decision: all, by mailbox, recipient and reason')
    .option('--recipient <address>', 'only about this address or domain')
    .option('--search <text>', 'only with this in a recipient, the subject or the first words')
    .action(
      withOrganization<Pick<QueueOptions, 'recipient' | 'search'>>(
        async ({ service, options: { recipient, search } }) =>
          ofOthers(shown(await service.consents.summary(given({ recipient, q: search })))),
      ),
    );
  consents
    .command('show')
    .description('Read the held message')
    .argument('<id>', 'con_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const held = await service.consents.message(id);
        const { consent, mailbox, from, to, cc, bcc, subject, text, textOfHtml, attachments, heldBecause } = held;
        const names = attachments.map(
          ({ filename, contentType, risks }) => `${filename ?? contentType}${riskWords(risks)}`,
        );
        const { sha256 } = held;
        const rows = { id: consent.id, status: consent.status, heldBecause, mailbox: mailbox.address };
        return {
          value: held,
          untrusted: true,
          text: () =>
            [
              recordText({
                ...rows,
                from,
                to,
                cc,
                bcc,
                subject,
                attachments: names,
                expiresAt: consent.expiresAt,
                sha256,
              }),
              ...differenceLines(held),
              '',
              // Most recipients see the HTML.
              safeText(textOfHtml ?? text ?? ''),
            ].join('\n'),
        };
      }),
    );
  consents
    .command('approve')
    .description('Approve a held message: it is sent')
    .argument('<id>', 'con_…')
    .addOption(
      choice('--scope <scope>', 'what else may be sent without asking again', ['message', 'address', 'domain']).default(
        'message',
      ),
    )
    .option('--sha256 <hash>', 'only if the message is still the one with this hash, from `consents show`')
    .action(
      withOrganization<{ scope: ConsentScope; sha256?: string }>(async ({ service, args: [id = ''], options }) => {
        const consent = await service.consents.approve(id, {
          scope: options.scope,
          ...given({ sha256: options.sha256 }),
        });
        return said(consent, `Approved (${consent.decision?.scope ?? options.scope}): ${consent.id}`);
      }),
    );
  consents
    .command('deny')
    .description('Deny a held message: it is not sent')
    .argument('<id>', 'con_…')
    .option('--reason <text>', 'for the agent to read')
    .action(
      withOrganization<{ reason?: string }>(async ({ service, args: [id = ''], options }) => {
        const consent = await service.consents.deny(id, options.reason);
        return said(consent, `Denied: ${consent.id}`);
      }),
    );
  consents
    .command('return')
    .description('Send a held message back with a comment: the agent may submit a changed one')
    .argument('<id>', 'con_…')
    .requiredOption('--comment <text>', 'what the agent should change')
    .action(
      withOrganization<{ comment: string }>(async ({ service, args: [id = ''], options }) => {
        const consent = await service.consents.sendBack(id, options.comment);
        return said(consent, `Sent back: ${consent.id}`);
      }),
    );
  consents
    .command('take-back')
    .description('Take an approval back while its message waits')
    .argument('<id>', 'con_…')
    .action(
      withOrganization(async ({ service, args: [id = ''] }) => {
        const consent = await service.consents.takeBack(id);
        return said(consent, `Held again: ${consent.id}`);
      }),
    );
  consents
    .command('status')
    .description('Show a request without its message')
    .argument('<id>', 'con_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => ofOthers(shown(await service.consents.get(id)))));
}

/** What the recipients who see the HTML read otherwise than those who see the text. */
function differenceLines({ textAndHtml }: ConsentMessage): string[] {
  if (textAndHtml === null) return [];
  const { onlyInText, onlyInHtml, linksOnlyInText, linksOnlyInHtml, complete } = textAndHtml;
  const found = [
    ['Words only in the HTML', onlyInHtml],
    ['Words only in the text', onlyInText],
    ['Links only in the HTML', linksOnlyInHtml],
    ['Links only in the text', linksOnlyInText],
  ] as const;
  const lines = found.flatMap(([title, pieces]) => pieces.map((piece) => `  ${title}: ${safeLine(piece)}`));
  if (lines.length === 0 && complete) return [];
  return ['', `Text and HTML differ${complete ? '' : ', perhaps more than is listed'}:`, ...lines];
}
