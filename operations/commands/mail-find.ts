/** `mail find`: what became of a mail, refused ones included. */

import { FOUND_MAIL_MAX, type FoundMail, findMail, type MailStep } from '#administration/mail/find-mail.ts';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { command, UsageError } from '#operations/command.ts';

const POOL_MAX = 1;
const DAY_MS = 86_400_000;

/** A moment: a date, or a date with a time; without a zone it is UTC. */
const moment: Form<Date> = {
  takes: 'a date, or a date and a time, such as `2026-11-25` or `2026-11-25T14:00Z`',
  parse(text) {
    if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
    const date = new Date(/^\d{4}-\d\d-\d\d$|Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
    return Number.isNaN(date.getTime()) ? undefined : date;
  },
};

export const mailFindCommand = command({
  name: 'mail find',
  summary: 'find a mail, and every step of it',
  description: `Shows every step of mail across all organizations: received, submitted, each attempt, each recipient, and what was refused or deferred, with the reason. Failed logins are found by the address that was asked for. Finds refusals of the last ${MAIL_REFUSAL_RETENTION_DAYS} days, other mail as long as its rows are kept. At most ${FOUND_MAIL_MAX} messages and as many refusals, the newest; narrow the time if there are more. Never shows content.`,
  arguments: {
    what: {
      text: 'address of a sender, recipient or mailbox; Message-ID; id of a message, session, request or client address',
    },
  },
  options: {
    since: {
      text: `from this time on (default: ${MAIL_REFUSAL_RETENTION_DAYS} days ago)`,
      value: 'time',
      form: moment,
    },
    until: { text: 'up to this time (default: now)', value: 'time', form: moment },
  },
  examples: ['mail find ada@example.org', "mail find '<a1b2@example.org>' --since 2026-11-20 --json"],
  async run(context) {
    const { since, until = new Date() } = context.options;
    const from = since ?? new Date(until.getTime() - MAIL_REFUSAL_RETENTION_DAYS * DAY_MS);
    if (from > until) throw new UsageError('--since is after --until');
    const db = await context.database(POOL_MAX);
    const found = await findMail(db, context.args.what, { since: from, until });
    context.output(found, foundText(found));
    return 'done';
  },
});

function foundText({ steps, more }: FoundMail): string {
  if (steps.length === 0) return 'No mail was found.';
  const messages = [...Map.groupBy(steps, ({ id }) => id)];
  return [
    ...messages.flatMap(([id, own]) => [headOf(id, own[0]), ...own.map((step) => `  ${stepText(step)}`), '']),
    more ? `The newest ${FOUND_MAIL_MAX} are shown; --since and --until narrow the time.` : '',
  ]
    .join('\n')
    .trimEnd();
}

const headOf = (id: string, first: MailStep | undefined): string =>
  [id, first?.messageId, first?.organizationId].filter(Boolean).join('  ');

function stepText({ at, step, outcome, from, to, details }: MailStep): string {
  const { mail: _mail, outcome: _outcome, from: _from, to: _to, messageId: _messageId, ...rest } = details;
  const more = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const envelope = step === 'refusal' && from === null && to.length === 0 ? '' : `${from || '<>'} → ${to.join(', ')}`;
  return [at.toISOString(), step, outcome, envelope, ...more].filter((each) => each !== '').join('  ');
}
