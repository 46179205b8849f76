/** `mail hold`, `release`, `retry` and `drop`: what an operator does with outgoing mail that waits. */

import { controlQueue, type QueueAction, type WaitingFilter } from '#administration/mail/control-queue.ts';
import { OPERATOR } from '#core/platform/caller.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { text } from '#core/platform/settings/setting-forms.ts';
import { passingStep } from '#operations/backup/described.ts';
import { type CommandContext, CommandError, command, type Outcome, UsageError } from '#operations/command.ts';

const IDS_SHOWN = 20;

const selection = {
  arguments: {
    about: {
      text: 'id of a message; address of the sender or of an open recipient; or domain of one',
      optional: true,
    },
  },
  options: { organization: { text: 'only of this organization', value: 'id or slug', form: text } },
} as const;

interface Selected {
  readonly about: string | undefined;
  readonly organization: string | undefined;
}

type ControlContext = Pick<CommandContext, 'progress' | 'signal' | 'services' | 'settings' | 'output'>;

async function control(
  context: ControlContext,
  action: QueueAction,
  done: string,
  { about, organization }: Selected,
): Promise<Outcome> {
  if (about === undefined && organization === undefined)
    throw new UsageError('Say which mail: by an id, an address or a domain, by --organization, or by both');
  const services = await context.services();
  context.settings('TEMPORAL_ADDRESS');
  const filter: WaitingFilter = {
    about: about?.toLowerCase() ?? null,
    organizationId: organization === undefined ? null : await organizationId(services.db, organization),
  };
  const temporal = connectTemporal(context.settings(), services.db);
  try {
    const { changed: ids } = await passingStep(context, 'Outgoing mail', (note) =>
      controlQueue(
        { services, temporal, caller: OPERATOR, onPortion: (count) => note(`${count} messages`) },
        action,
        filter,
      ),
    );
    const shown = ids.slice(0, IDS_SHOWN).map((id) => `  ${id}`);
    context.output(
      { action, changed: ids.length, messages: ids },
      [
        `${ids.length} messages ${done}.`,
        ...shown,
        ...(ids.length > IDS_SHOWN ? [`  and ${ids.length - IDS_SHOWN} more (all with --json)`] : []),
      ].join('\n'),
    );
    return 'done';
  } finally {
    await temporal.close();
  }
}

async function organizationId(db: Awaited<ReturnType<CommandContext['database']>>, given: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(`select id from organizations where id = $1 or slug = $1`, [given]);
  if (row === undefined) throw new CommandError(`there is no organization ${given}: see \`organizations list\``);
  return row.id;
}

const AUDITED = 'The audit log of the organization has an entry for each message. Safe to run twice.';

export const mailHoldCommand = command({
  name: 'mail hold',
  summary: 'stop outgoing mail that waits, until it is released',
  description: `Nothing of these messages is sent any more; an attempt that is in flight ends. Requests for approval can be decided meanwhile. ${AUDITED}`,
  ...selection,
  examples: ['mail hold msg_…', 'mail hold example.org', 'mail hold --organization example'],
  run: (context) =>
    control(context, 'hold', 'are on hold now', {
      about: context.args.about,
      organization: context.options.organization,
    }),
});

export const mailReleaseCommand = command({
  name: 'mail release',
  summary: 'let outgoing mail go on that is on hold',
  description: `Attempts go on, and have two days again. What waits for approval or its time goes on waiting. ${AUDITED}`,
  ...selection,
  examples: ['mail release msg_…', 'mail release --organization example'],
  run: (context) =>
    control(context, 'release', 'go on now', { about: context.args.about, organization: context.options.organization }),
});

export const mailRetryCommand = command({
  name: 'mail retry',
  summary: 'attempt outgoing mail now that waits for its next attempt',
  description: `Makes the next attempt due at once, for example when the other host is back. What waits for approval, for its time, or on hold does not change. ${AUDITED}`,
  ...selection,
  examples: ['mail retry example.org', 'mail retry msg_…'],
  run: (context) =>
    control(context, 'retry', 'are attempted now', {
      about: context.args.about,
      organization: context.options.organization,
    }),
});

export const mailDropCommand = command({
  name: 'mail drop',
  summary: 'end outgoing mail that waits',
  description: `Mail that waits for approval or its time is withdrawn, as its mailbox would do it; the draft it was made from is there again. Of mail that is being sent, recipients who do not have it end as denied, with the event email_blocked (cancelled). It cannot be undone. ${AUDITED}`,
  arguments: selection.arguments,
  options: { ...selection.options, yes: { text: 'drop: it cannot be undone' } },
  examples: ['mail drop msg_… --yes', 'mail drop spammer@example.org --yes'],
  run(context) {
    if (!context.options.yes) throw new UsageError('It cannot be undone. Look with `mail queue`, then add --yes');
    return control(context, 'drop', 'are dropped', {
      about: context.args.about,
      organization: context.options.organization,
    });
  },
});
