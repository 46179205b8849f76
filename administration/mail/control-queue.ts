/**
 * What an operator does with outgoing mail that waits. Rows are changed, with an entry of the audit log for each message,
 * and then the workflows are signalled to look at them; the sweep finds those that were not reached.
 *
 *   waiting ──hold──▶ on hold ──release──▶ waiting, due at once
 *      │ └──retry──▶ due at once
 *      └────drop───▶ withdrawn, or its open recipients end as `denied`
 */
import { lockBrakes } from '#core/mailboxes/sending-brakes.ts';
import { recordAudits } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import type { AuditAction } from '#domain/organizations/audit-actions.ts';
import { OUTBOUND_GIVE_UP_MS, OUTBOUND_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { cancelMessage } from '#sending/attempt/attempt-message.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { withdrawMessage } from '#sending/submit/withdraw-message.ts';

/** At least one is not null. */
export interface WaitingFilter {
  /** Id of a message; address of the sender or of an open recipient; domain of an open recipient. In lower case. */
  readonly about: string | null;
  readonly organizationId: string | null;
  /** Only with later ids. */
  readonly after?: string;
}

interface WaitingMessage {
  readonly id: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly state: 'held' | 'scheduled' | 'sending';
}

const PORTION = 100;

/** By the index of what is not finished. */
const WAITING = `
  select o.id, o.organization_id as "organizationId", o.mailbox_id as "mailboxId", o.state
    from outbound_message o join mailboxes x on x.id = o.mailbox_id
   where o.state in ('held', 'scheduled', 'sending') and o.id > $1 and ($2::text is null or o.organization_id = $2)
     and ($3::text is null or o.id = $3 or x.address = $3
          or exists (select from outbound_recipient r
                      where r.message_id = o.id and r.status in ('queued', 'sending')
                        and (lower(r.address) = $3 or lower(split_part(r.address, '@', -1)) = $3)))
   order by o.id limit ${PORTION}`;

async function* waiting(
  sql: Sql,
  { about, organizationId, after: first = '' }: WaitingFilter,
): AsyncGenerator<WaitingMessage[]> {
  for (let after = first; ; ) {
    const rows = await sql.query<WaitingMessage>(WAITING, [after, organizationId, about]);
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    yield rows;
    after = last;
  }
}

const HOLD = `
  update outbound_message set on_hold_since = $2
   where id = any($1::text[]) and on_hold_since is null and state in ('held', 'scheduled', 'sending') returning id`;

/** As after the end of a stop: it has two days from now. */
const RELEASE = `
  update outbound_message
     set on_hold_since = null, due_at = $2, give_up_at = case when give_up_at is null then null else $3::timestamptz end
   where id = any($1::text[]) and on_hold_since is not null returning id`;

const RETRY = `
  with due as (
    update outbound_recipient r set next_attempt_at = $2 from outbound_message o
     where o.id = any($1::text[]) and r.message_id = o.id and o.state = 'sending' and o.on_hold_since is null
       and r.status = 'queued' and r.next_attempt_at > $2
    returning r.message_id
  )
  update outbound_message set due_at = $3 where id in (select message_id from due) returning id`;

export interface QueueControl {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly onPortion: (changed: number) => void;
  /** For the audit logs. */
  readonly caller: Caller;
  /** Looks at no more messages than these and those of one portion; default: all that wait. */
  readonly max?: number;
}

export interface Controlled {
  /** Ids of the messages that changed; others were so already, or do not wait any more. */
  readonly changed: string[];
  /** Not all were looked at: go on after this id. */
  readonly next: string | null;
}

export type QueueAction = 'hold' | 'release' | 'retry' | 'drop';

const AUDITED: Readonly<Record<QueueAction, AuditAction>> = {
  hold: 'mail.on_hold',
  release: 'mail.released',
  retry: 'mail.retried',
  drop: 'mail.dropped',
};

export async function controlQueue(
  control: QueueControl,
  action: QueueAction,
  filter: WaitingFilter,
): Promise<Controlled> {
  const { services, temporal, onPortion, max = Number.POSITIVE_INFINITY } = control;
  const all: string[] = [];
  let seen = 0;
  for await (const messages of waiting(services.db, filter)) {
    const changed = action === 'drop' ? await drop(control, messages) : await change(control, action, messages);
    await signalDecided(services, temporal, changed);
    all.push(...changed);
    seen += messages.length;
    onPortion(all.length);
    if (seen >= max) return { changed: all, next: messages.at(-1)?.id ?? null };
  }
  return { changed: all, next: null };
}

async function audit(
  sql: Sql,
  caller: Caller,
  action: QueueAction,
  messages: readonly WaitingMessage[],
  ids: readonly string[],
): Promise<void> {
  await recordAudits(
    sql,
    messages
      .filter(({ id }) => ids.includes(id))
      .map(({ id, organizationId, mailboxId }) => ({
        caller,
        entry: { organizationId, action: AUDITED[action], targetId: id, details: { mailboxId } },
      })),
  );
}

async function change(
  { services, caller }: QueueControl,
  action: Exclude<QueueAction, 'drop'>,
  messages: readonly WaitingMessage[],
): Promise<string[]> {
  const now = new Date(services.now());
  const ids = messages.map(({ id }) => id);
  return services.db.transaction(async (sql) => {
    // Attempts that begin hold it shared: after the commit none begins that has not seen this.
    if (action === 'hold')
      for (const id of [...new Set(messages.map(({ organizationId }) => organizationId))].toSorted())
        await lockBrakes(sql, id);
    const overdue = new Date(now.getTime() + OUTBOUND_OVERDUE_MS);
    const rows = await (action === 'hold'
      ? sql.query<{ id: string }>(HOLD, [ids, now])
      : action === 'release'
        ? sql.query<{ id: string }>(RELEASE, [ids, overdue, new Date(now.getTime() + OUTBOUND_GIVE_UP_MS)])
        : sql.query<{ id: string }>(RETRY, [ids, now, overdue]));
    const changed = rows.map(({ id }) => id);
    await audit(sql, caller, action, messages, changed);
    return changed;
  });
}

/** As its mailbox withdraws it, where nobody has it yet; otherwise those who do not have it will not get it. */
async function drop({ services, caller }: QueueControl, messages: readonly WaitingMessage[]): Promise<string[]> {
  const dropped: string[] = [];
  for (const { id, mailboxId } of messages) {
    const { kind } = await withdrawMessage(services, mailboxId, id, caller.actor);
    if (kind !== 'withdrawn') await cancelMessage(services, id);
    const [open] = await services.db.query(
      `select 1 from outbound_message where id = $1 and state in ('held', 'scheduled', 'sending')`,
      [id],
    );
    if (open !== undefined) continue; // being transmitted at this moment, or of a deleted mailbox, whose workflow ends it
    await audit(services.db, caller, 'drop', messages, [id]);
    dropped.push(id);
  }
  return dropped;
}
