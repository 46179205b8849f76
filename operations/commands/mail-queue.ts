/** `mail queue`: outgoing mail that is not finished. */

import { integer, text } from '#core/platform/settings/setting-forms.ts';
import type { Sql } from '#db/database.ts';
import { command } from '#operations/command.ts';

const POOL_MAX = 1;
const SHOWN_DEFAULT = 100;
const SHOWN_MAX = 10_000;

interface Waiting {
  readonly id: string;
  readonly organizationId: string;
  /** `held` for consent, `scheduled`, or `sending`; `stopped` if a person stopped the sending of its mailbox, `on hold` if an operator stopped it. */
  readonly state: string;
  readonly from: string;
  readonly submittedAt: Date;
  readonly messageId: string;
  /** That are not finished. */
  readonly recipients: readonly {
    readonly address: string;
    readonly nextAttemptAt: string | null;
    readonly reply: string | null;
  }[];
}

interface Queue {
  readonly count: number;
  /** Oldest first. */
  readonly messages: readonly Waiting[];
}

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

async function readQueue(sql: Sql, to: string | null, limit: number): Promise<Queue> {
  const messages = await sql.query<Waiting>(`${LIST} order by o.id limit $2`, [to, limit]);
  const [{ count } = { count: 0 }] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (${LIST}) as waiting`,
    [to],
  );
  return { count, messages };
}

/** By the index of what is due, which has the rows that are not finished only. */
const LIST = `
  select o.id, o.organization_id as "organizationId", case when o.on_hold_since is not null then 'on hold' when o.stopped_at is not null then 'stopped' else o.state end as state,
         x.address as from, o.submitted_at as "submittedAt", o.message_id_header as "messageId", r.recipients
    from outbound_message o join mailboxes x on x.id = o.mailbox_id
    cross join lateral (
      select json_agg(json_build_object('address', address, 'nextAttemptAt', next_attempt_at, 'reply', reply) order by number)
               as recipients,
             bool_or(lower(address) = $1 or lower(split_part(address, '@', -1)) = $1) as is_wanted
        from outbound_recipient where message_id = o.id and status in ('queued', 'sending')) as r
   where o.state in ('held', 'scheduled', 'sending') and r.recipients is not null and ($1::text is null or r.is_wanted)`;

function queueText({ count, messages }: Queue): string {
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
