/** What was written about something: audit log, mail log, notices, stored answers, requests to the built-in receiver. */
import type { Sql } from '#db/database.ts';
import { eraseRows, inPortions, isReal, type Run } from './portions.ts';

const ENTRIES_READ_AT_ONCE = 2_000;

/** Which entries, over `audit_entries a`, and what stays of them. Values begin at $3. */
interface Clearing {
  readonly organizationId: string;
  readonly where: string;
  /** Assignments of an update. */
  readonly set: string;
  readonly values: readonly unknown[];
}

/** Entries stay, since what happened and who did it is proof for the organization. */
export async function clearAudit(run: Run, { organizationId, where, set, values }: Clearing): Promise<void> {
  const page = `select id from audit_entries where organization_id = $1 and id > $2 order by id limit ${ENTRIES_READ_AT_ONCE}`;
  if (!isReal(run)) {
    const [row] = await run.db.query<{ n: number }>(
      `select count(*)::int as n from audit_entries a where a.organization_id = $1 and a.id > $2 and (${where})`,
      [organizationId, '', ...values],
    );
    return run.counted({ audit_entries: row?.n ?? 0 });
  }
  let after = '';
  await inPortions(run, 'audit_entries', async (sql) => {
    const ids = (await sql.query<{ id: string }>(page, [organizationId, after])).map(({ id }) => id);
    const rows =
      ids.length === 0
        ? []
        : await sql.query(
            `update audit_entries a set ${set} where a.organization_id = $1 and a.id > $2 and a.id <= '${ids.at(-1)}'
                and (${where}) returning 1`,
            [organizationId, after, ...values],
          );
    return {
      counts: { audit_entries: rows.length },
      more: ids.length === ENTRIES_READ_AT_ONCE,
      committed: () => {
        after = ids.at(-1) ?? after;
      },
    };
  });
}

/** Entries about a mailbox and what belongs to it, and of those that its agent caused the name. */
export const clearAuditOfMailbox = (run: Run, organizationId: string, mailboxId: string): Promise<void> =>
  clearAudit(run, {
    organizationId,
    where: `(a.details not in ('{}', '{"erased": true}')
             or a.actor ->> 'id' = $3 and coalesce(a.actor ->> 'name', a.actor ->> 'address') is not null)
      and (a.target_id = $3 or a.details ->> 'mailboxId' = $3 or a.actor ->> 'id' = $3
           or a.target_id in (select id from consent where mailbox_id = $3)
           or a.target_id in (select id from outbound_message where mailbox_id = $3)
           or a.target_id in (select id from webhook_endpoints where mailbox_id = $3)
           or a.target_id in (select id from sender_list where mailbox_id = $3))`,
    set: `details = case when a.details = '{}' then a.details else '{"erased": true}'::jsonb end,
      actor = case when a.actor ->> 'id' = $3 then a.actor || '{"name": null, "email": null, "address": null}'::jsonb
                   else a.actor end`,
    values: [mailboxId],
  });

/** @param addresses and ids of what is erased, in lower case */
export const eraseRefusals = (run: Run, keys: readonly string[]): Promise<void> =>
  eraseRows(run, 'mail_refusal', `keys && $1::text[]`, [keys]);

const ANSWERS_READ_AT_ONCE = 2_000;

/** Stored answers to requests with an Idempotency-Key, read in the order of their key. @param where with `$1`… */
export async function eraseStoredAnswers(run: Run, where: string, values: readonly unknown[]): Promise<void> {
  let after = { principal: '', key: '' };
  const [principal, key] = [`$${values.length + 1}`, `$${values.length + 2}`];
  const next = async (sql: Sql) => {
    const [last] = await sql.query<{ principal: string; key: string }>(
      `select principal, key from (
         select principal, key from idempotency_keys where (principal, key) > ($1, $2)
          order by principal, key limit ${ANSWERS_READ_AT_ONCE}) as page order by principal desc, key desc limit 1`,
      [after.principal, after.key],
    );
    if (last === undefined) return { counts: {}, more: false };
    const page = `(principal, key) > (${principal}, ${key})
      and (principal, key) <= ($${values.length + 3}, $${values.length + 4}) and (${where})`;
    const range = [...values, after.principal, after.key, last.principal, last.key];
    const rows = isReal(run)
      ? await sql.query(`delete from idempotency_keys where ${page} returning 1`, range)
      : await sql.query(`select 1 from idempotency_keys where ${page}`, range);
    return {
      counts: { idempotency_keys: rows.length },
      more: true,
      committed: () => {
        after = last;
      },
    };
  };
  if (isReal(run)) return inPortions(run, 'idempotency_keys', next);
  for (let more = true; more; ) {
    const done = await next(run.db);
    run.counted(done.counts);
    done.committed?.();
    ({ more } = done);
  }
}

/** Those that name one of these ids, or went to one of them. */
export const eraseAnswers = (run: Run, ids: readonly string[]): Promise<void> =>
  eraseStoredAnswers(
    run,
    `split_part(principal, ':', 2) in (select unnest($1::text[]))
      or exists (select from regexp_matches(body, '[a-z]{3}_[0-9a-z]{26}', 'g') as found (id)
                  where found.id[1] in (select unnest($1::text[])))`,
    [ids],
  );

export const eraseReceived = (run: Run, organizationId: string, mailboxId: string): Promise<void> =>
  eraseRows(
    run,
    'received_request',
    `receiver_id in (select id from webhook_receiver where organization_id = $1) and position($2 in body) > 0`,
    [organizationId, mailboxId],
  );
