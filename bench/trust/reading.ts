/**
 * `npm run bench:trust -- reading`: what it costs to note whose mail a token reads: a list of 100 messages of 100 senders,
 * where nobody is asked, at the first reading, and at readings within the minute after it.
 */
import type { TestMailbox } from '#test/support/api-world.ts';
import type { TrustWorld } from './trust-world.ts';

const MAILBOXES = 8;
const MESSAGES = 100;
const REPEATED = 100;

async function timed(world: TrustWorld, mailbox: TestMailbox): Promise<number> {
  const startedAt = performance.now();
  const answer = await world.api.call('GET', `/api/mailbox/messages?limit=${MESSAGES}`, { as: mailbox.token });
  if (answer.status !== 200) throw new Error(answer.text);
  return performance.now() - startedAt;
}

const median = (times: readonly number[]): string =>
  ([...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0).toFixed(1);

/** Each answer is checked against its schema, too, as in tests: the differences count. */
export async function measureReading(world: TrustWorld, say: (text: string) => void): Promise<void> {
  const times: Record<'off' | 'first' | 'again', number[]> = { off: [], first: [], again: [] };
  for (const askAfterReadingMinutes of [0, 10])
    for (let i = 0; i < MAILBOXES; i++) {
      const { mailbox } = await world.newOrganization({ askAfterReadingMinutes });
      for (let k = 0; k < MESSAGES; k++)
        await world.receive(mailbox, { from: `s${k}@sender${k}.example`, subject: `Mail ${k}`, text: 'Hello.' });
      const first = await timed(world, mailbox);
      if (askAfterReadingMinutes > 0) times.first.push(first);
      for (let n = 0; n < REPEATED / MAILBOXES; n++)
        times[askAfterReadingMinutes > 0 ? 'again' : 'off'].push(await timed(world, mailbox));
    }
  const [space] = await world.api.sql(
    `select pg_total_relation_size('sender_read') / greatest(count(*), 1) as bytes, count(*)::int as rows from sender_read`,
  );
  say(
    `list of ${MESSAGES} messages, median: nobody asked ${median(times.off)} ms; first reading ${median(times.first)} ms; again ${median(times.again)} ms`,
  );
  say(`rows: ${String(space?.['rows'])}, ${String(space?.['bytes'])} bytes each with their indexes`);
}
