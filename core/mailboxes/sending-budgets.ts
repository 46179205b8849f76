/**
 * How much a mailbox and its organization have sent today (UTC), and whether one more message is within their budgets.
 *
 * The rows of the day are counted in the transaction that submits a message; with a budget they are locked first, so of
 * concurrent submissions, in whatever process and by whatever protocol, exactly as many pass as the budget allows.
 */
import type { Sql } from '#db/database.ts';
import type { OverBudgetKind, SendingBudgets } from '#domain/sending/sending-brakes.ts';

export interface BudgetQuestion {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly budgets: { readonly organization: SendingBudgets; readonly mailbox: SendingBudgets };
  /** Recipients outside of the organization. */
  readonly outside: readonly string[];
  readonly now: Date;
}

/** UTC. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

export interface BudgetAnswer {
  /** The budget the message is beyond; null: it may be sent. */
  readonly over: OverBudgetKind | null;
  /** Counts it: call it last, because other messages of the organization wait for the row from then on. */
  count(): Promise<void>;
}

/** Whether one more message is within the budgets. Call it before its recipients are written. */
export async function askBudgets(sql: Sql, question: BudgetQuestion): Promise<BudgetAnswer> {
  const { organizationId, mailboxId, budgets, now } = question;
  const limited = [budgets.organization, budgets.mailbox].some(
    ({ messagesPerDay, newRecipientsPerDay }) => messagesPerDay !== null || newRecipientsPerDay !== null,
  );
  const used = limited ? await lockUse(sql, organizationId, mailboxId, now) : new Map<string, Use>();
  const fresh = await countNewRecipients(sql, question);
  const answer = (over: OverBudgetKind | null): BudgetAnswer => ({ over, count: () => addUse(sql, question, fresh) });
  for (const [scopeId, budget, more] of [
    [mailboxId, budgets.mailbox, fresh.mailbox],
    [organizationId, budgets.organization, fresh.organization],
  ] as const) {
    const { messages, newRecipients } = used.get(scopeId) ?? { messages: 0, newRecipients: 0 };
    if (budget.messagesPerDay !== null && messages + 1 > budget.messagesPerDay) return answer('over_message_budget');
    // A message without a new recipient uses nothing of this budget, even if it was lowered below the current use.
    if (more > 0 && budget.newRecipientsPerDay !== null && newRecipients + more > budget.newRecipientsPerDay)
      return answer('over_new_recipient_budget');
  }
  return answer(null);
}

/** Counts a message that a person released: it uses the budgets, but is never refused by them. */
export async function countReleased(sql: Sql, question: Omit<BudgetQuestion, 'budgets'>): Promise<void> {
  await addUse(sql, question, await countNewRecipients(sql, question));
}

interface Use {
  readonly messages: number;
  readonly newRecipients: number;
}

async function lockUse(sql: Sql, organizationId: string, mailboxId: string, now: Date): Promise<Map<string, Use>> {
  const values = [[mailboxId, organizationId], dayOf(now)];
  await sql.query(
    `insert into sending_use (scope_id, day) select id, $2::date from unnest($1::text[]) as id order by id
     on conflict do nothing`,
    values,
  );
  const rows = await sql.query<Use & { scopeId: string }>(
    `select scope_id as "scopeId", messages, new_recipients as "newRecipients" from sending_use
      where scope_id = any($1::text[]) and day = $2::date order by scope_id for update`,
    values,
  );
  return new Map(rows.map((row) => [row.scopeId, row]));
}

interface NewRecipients {
  readonly organization: number;
  readonly mailbox: number;
}

/** Addresses outside that nothing was sent to before. Having written first does not make them known. */
async function countNewRecipients(
  sql: Sql,
  { organizationId, mailboxId, outside }: Pick<BudgetQuestion, 'organizationId' | 'mailboxId' | 'outside'>,
): Promise<NewRecipients> {
  const addresses = [...new Set(outside.map((address) => address.toLowerCase()))];
  if (addresses.length === 0) return { organization: 0, mailbox: 0 };
  const [row] = await sql.query<NewRecipients>(COUNT_NEW, [organizationId, mailboxId, addresses]);
  return row ?? { organization: 0, mailbox: 0 };
}

const WRITTEN = `
  select from outbound_recipient r join outbound_message o on o.id = r.message_id
   where r.organization_id = $1 and lower(r.address) = a.address and o.state in ('scheduled', 'sending', 'done')`;

const COUNT_NEW = `
  select count(*) filter (where not exists (${WRITTEN}))::int as organization,
         count(*) filter (where not exists (${WRITTEN} and o.mailbox_id = $2))::int as mailbox
    from unnest($3::text[]) as a (address)`;

async function addUse(
  sql: Sql,
  { organizationId, mailboxId, now }: Pick<BudgetQuestion, 'organizationId' | 'mailboxId' | 'now'>,
  fresh: NewRecipients,
): Promise<void> {
  await sql.query(
    `insert into sending_use as u (scope_id, day, messages, new_recipients)
     select id, $3::date, 1, fresh from unnest($1::text[], $2::int[]) as x (id, fresh) order by id
     on conflict (scope_id, day) do update
        set messages = u.messages + 1, new_recipients = u.new_recipients + excluded.new_recipients`,
    [[mailboxId, organizationId], [fresh.mailbox, fresh.organization], dayOf(now)],
  );
}
