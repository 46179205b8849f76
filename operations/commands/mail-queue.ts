/** `mail queue`: outgoing mail that is not finished. */

import { type MailQueue, readQueue } from '#administration/mail/read-queue.ts';
import { integer, text } from '#core/platform/settings/setting-forms.ts';
import { command } from '#operations/command.ts';

const POOL_MAX = 1;
const SHOWN_DEFAULT = 100;
const SHOWN_MAX = 10_000;

export const mailQueueCommand = command({
  name: 'mail queue',
  summary: 'list outgoing mail that is not finished',
  description:
    'Lists outgoing mail of all organizations that waits for consent, for its time, or for an attempt, the oldest first: each open recipient with the next attempt and the last answer of the other host. Changes nothing. Never shows content.',
  arguments: {},
  options: {
    to: { text: 'only with an open recipient of this domain or address', value: 'name', form: text },
    limit: { text: 'messages at most', value: 'count', form: integer(1, SHOWN_MAX), fallback: String(SHOWN_DEFAULT) },
  },
  examples: ['mail queue', 'mail queue --to example.org --json'],
  async run(context) {
    const db = await context.database(POOL_MAX);
    const queue = await readQueue(db, context.options.to?.toLowerCase() ?? null, context.options.limit);
    context.output(queue, queueText(queue));
    return 'done';
  },
});

function queueText({ count, messages }: MailQueue): string {
  if (count === 0) return 'No outgoing mail waits.';
  return [
    ...messages.flatMap(({ id, state, from, submittedAt, organizationId, recipients }) => [
      `${id}  ${state}  ${submittedAt.toISOString()}  ${from}  ${organizationId}`,
      ...recipients.map(({ address, nextAttemptAt, reply }) =>
        [`  ${address}`, nextAttemptAt === null ? '' : `next ${new Date(nextAttemptAt).toISOString()}`, reply ?? '']
          .filter((each) => each !== '')
          .join('  '),
      ),
    ]),
    '',
    `${count} wait${messages.length < count ? `; the oldest ${messages.length} are shown` : ''}.`,
  ].join('\n');
}
