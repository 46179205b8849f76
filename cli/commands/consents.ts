/** `consents`. */
import type { Command } from 'commander';
import {
  choice,
  given,
  type ListOptions,
  listed,
  pageOf,
  said,
  shown,
  withListOptions,
  withOrganization,
} from '#cli/organization-command.ts';
import { recordText } from '#cli/record-text.ts';
import { safeText } from '#cli/terminal-text.ts';
import type { Consent, ConsentScope } from '#client/index.ts';

export function addConsentCommands(program: Command): void {
  const consents = program
    .command('consents')
    .description('Decide about held messages. A decision is a person’s: sign in by login --browser');
  withListOptions(consents.command('list').description('List requests, newest first'))
    .addOption(choice('--status <status>', 'only these', ['pending', 'approved', 'denied']))
    .action(
      withOrganization<ListOptions & { status?: Consent['status'] }>(({ service, options }) =>
        listed(
          service.consents.list({ ...pageOf(options), ...given({ status: options.status }) }),
          ['id', 'status', 'recipients', 'subject', 'heldBecause', 'expiresAt'],
          'Nothing waits for a decision.',
        ),
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
        const names = attachments.map(({ filename, contentType }) => filename ?? contentType);
        const rows = { id: consent.id, status: consent.status, heldBecause, mailbox: mailbox.address };
        return {
          value: held,
          text: () =>
            [
              recordText({ ...rows, from, to, cc, bcc, subject, attachments: names, expiresAt: consent.expiresAt }),
              '',
              safeText(text ?? textOfHtml ?? ''),
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
    .action(
      withOrganization<{ scope: ConsentScope }>(async ({ service, args: [id = ''], options }) => {
        const consent = await service.consents.approve(id, options.scope);
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
    .command('status')
    .description('Show a request without its message')
    .argument('<id>', 'con_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.consents.get(id))));
}
