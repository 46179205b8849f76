/**
 * An organization with more than anybody looks at: mailboxes, deliveries, mail and held messages in numbers. A few of each
 * are made as in use; the others are copies of these rows with ids, times and subjects of their own.
 */

import { ImapClient } from '#bench/mail/imap-client.ts';
import { mixedMessage } from '#bench/mail/messages.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Database } from '#db/database.ts';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import { copies, copyHeld, insertDeliveries, insertMailboxes } from '#test/support/many-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

export interface Amounts {
  readonly mailboxes: number;
  readonly deliveries: number;
  readonly messages: number;
  readonly held: number;
}

export interface Filled {
  readonly mailboxId: string;
  readonly endpointId: string;
}

/** Messages that are really filed. */
const FILED = 500;
const PORTION = 5_000;
const MINUTE_MS = 60_000;
const QUOTA_BYTES = 1e12;

interface Made {
  readonly id: string;
  readonly address: string;
  readonly token: string;
}

async function call(facts: ServiceFacts, path: string, as: Record<string, string>, body: object): Promise<unknown> {
  const answer = await fetch(new URL(path, facts.apiUrl), {
    method: 'POST',
    headers: { ...as, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

export async function fill(
  facts: ServiceFacts,
  db: Database,
  amounts: Amounts,
  say: (text: string) => void,
): Promise<Filled> {
  const { organizationId, imap, apiKey } = facts;
  if (imap === null || apiKey === null) throw new Error('a new service has a key and takes mail');
  await db.query(`update organizations set plan = 'unlimited' where id = $1`, [organizationId]);
  const made = (await call(facts, '/api/mailboxes', { 'x-organization-key': apiKey }, { localPart: 'reader' })) as Made;
  say('mailboxes and deliveries');
  await insertMailboxes(db.query, organizationId, amounts.mailboxes - 1);
  const endpointId = await insertDeliveries(db.query, organizationId, amounts.deliveries);
  say('mail');
  await fileMail(db, { ...made, imap }, amounts.messages);
  say('held messages');
  await holdMail(facts, db, made, amounts.held);
  await db.query('vacuum analyze', []);
  return { mailboxId: made.id, endpointId };
}

async function fileMail(
  db: Database,
  { id, address, token, imap }: Made & { readonly imap: NonNullable<ServiceFacts['imap']> },
  count: number,
): Promise<void> {
  await db.query(`update mailbox_counter set quota_bytes = $2 where mailbox_id = $1`, [id, QUOTA_BYTES]);
  const client = await ImapClient.loggedIn(imap, { address, token });
  for (let at = 0; at < FILED; at += 100)
    await client.command('APPEND INBOX', { literals: Array.from({ length: 100 }, (_, i) => mixedMessage(at + i)) });
  client.close();
  await waitUntil(
    'the texts of the messages',
    async () => {
      const [row] = await db.query<{ texts: number }>(
        `select count(*)::int as texts from message m join message_text t on t.message_id = m.id
         join message_content c on c.message_id = m.id where m.mailbox_id = $1`,
        [id],
      );
      return row?.texts === FILED;
    },
    120_000,
  );
  const [inbox] = await db.query<{ id: string }>(
    `select id::text as id from folder where mailbox_id = $1 and special_use = '\\Inbox'`,
    [id],
  );
  const filed = await db.query<{ message: string; uid: string }>(
    `select p.message_id as message, p.uid::text as uid from placement p where p.folder_id = $1 order by p.uid`,
    [inbox?.id],
  );
  const now = Date.now();
  // An index of words is made at once in a fraction of the time that it takes row by row.
  const [words] = await db.query<{ made: string }>(
    `select pg_get_indexdef('message_text_words'::regclass) as made`,
    [],
  );
  await db.query('drop index message_text_words', []);
  for (let at = FILED; at < count; at += PORTION) {
    const numbers = Array.from({ length: Math.min(PORTION, count - at) }, (_, i) => at + i);
    const times = numbers.map((number) => now - (count - number) * MINUTE_MS);
    await db.transaction(async (sql) => {
      await sql.query(
        `create temp table copied (n int, id text, thread text, at timestamptz, original text, original_uid bigint, uid bigint) on commit drop`,
        [],
      );
      await sql.query(
        `insert into copied select * from unnest($1::int[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::bigint[], $7::bigint[])`,
        [
          numbers,
          times.map((time) => newId('message', time)),
          times.map((time) => newId('thread', time)),
          times.map((time) => new Date(time)),
          numbers.map((number) => filed[number % FILED]?.message),
          numbers.map((number) => filed[number % FILED]?.uid),
          numbers.map((number) => number + 1),
        ],
      );
      const subject = `regexp_replace(x.subject, '\\d+$', '') || n.n`;
      const patches = [
        [
          'message',
          `jsonb_build_object('id', n.id, 'thread_id', n.thread, 'received_at', n.at, 'subject', ${subject})`,
          'x.id = n.original',
        ],
        ['message_text', `jsonb_build_object('message_id', n.id)`, 'x.message_id = n.original'],
        ['message_content', `jsonb_build_object('message_id', n.id)`, 'x.message_id = n.original'],
        [
          'placement',
          `jsonb_build_object('message_id', n.id, 'uid', n.uid, 'internal_date', n.at)`,
          `x.folder_id = ${inbox?.id} and x.uid = n.original_uid`,
        ],
        [
          'placement_state',
          `jsonb_build_object('uid', n.uid)`,
          `x.folder_id = ${inbox?.id} and x.uid = n.original_uid`,
        ],
      ] as const;
      for (const [table, patch, which] of patches) await sql.query(copies(table, 'copied n', which, patch), []);
    });
  }
  await db.query(words?.made ?? '', []);
  await db.query(
    `update folder f set uid_next = $2::int + 1, total = $2::int, unseen = $2::int,
            bytes = (select sum(size) from placement p where p.folder_id = f.id) where id = $1`,
    [inbox?.id, count],
  );
  await db.query(
    `update mailbox_counter c set messages = $2::int, bytes_used = (select sum(size) from message m where m.mailbox_id = c.mailbox_id)
      where mailbox_id = $1`,
    [id, count],
  );
}

async function holdMail(facts: ServiceFacts, db: Database, { token }: Made, count: number): Promise<void> {
  const bearer = { authorization: `Bearer ${token}` };
  const body = { to: ['stranger@outside.example'], subject: 'A first offer', text: 'Could we talk on Thursday?' };
  const held = (await call(facts, '/api/mailbox/messages', bearer, body)) as { consentId: string };
  await copyHeld(db.query, held.consentId, count - 1);
}
