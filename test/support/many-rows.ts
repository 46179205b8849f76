/** Rows in numbers that no person would make, for pages and measurements. */
import { newId } from '#core/platform/new-id.ts';

type Run = (text: string, values: readonly unknown[]) => Promise<unknown>;

const PORTION = 10_000;
const DAY_MS = 86_400_000;
/** Deliveries are from the last 23 hours and 50 minutes. */
const WITHIN_MS = 85_800_000;

/** Mailboxes `many-1` to `many-<count>`, older than any other. */
export async function insertMailboxes(run: Run, organizationId: string, count: number): Promise<void> {
  await run(
    `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash, created_at)
     select 'mbx_00000000000000000000' || lpad(i::text, 6, '0'), $1, 'many-' || i, 'agents.test', 'many-' || i || '@agents.test',
            'Number ' || i, 'active', 'synced', sha256(('many-' || i)::bytea), now()
       from generate_series(1, $2::int) i`,
    [organizationId, count],
  );
}

/** An endpoint with deliveries, every fiftieth of them given up. @returns its id */
export async function insertDeliveries(run: Run, organizationId: string, count: number): Promise<string> {
  const endpointId = newId('webhookEndpoint', Date.now() - 3 * DAY_MS);
  await run(
    `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix)
     values ($1, $2, 'https://hooks.example.com/', '{email_received,email_sent}', 'x', 'whsec_x')`,
    [endpointId, organizationId],
  );
  const now = Date.now();
  for (let first = 0; first < count; first += PORTION) {
    const times = Array.from({ length: PORTION }, (_, i) => now - Math.floor(((first + i) / count) * WITHIN_MS));
    const [ids, eventIds] = [
      times.map((timeMs) => newId('delivery', timeMs)),
      times.map((timeMs) => newId('event', timeMs)),
    ];
    await run(
      `insert into events (id, organization_id, type, payload, occurred_at)
       select id, $1, 'email_received', '{"data": {"subject": "Many"}}', at
         from unnest($2::text[], $3::timestamptz[]) as t (id, at)`,
      [organizationId, eventIds, times.map((timeMs) => new Date(timeMs))],
    );
    await run(
      `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type, status, reason, response_code,
         attempt_count, created_at, completed_at, fan_out_id)
       select id, event_id, $2, $1, case when n % 7 = 0 then 'email_sent' else 'email_received' end,
              case when n % 50 = 0 then 'exhausted' else 'success' end,
              case when n % 50 = 0 then 'attempts_exhausted' end, case when n % 50 = 0 then 503 else 200 end,
              case when n % 50 = 0 then 5 else 1 end, at, at, 'many'
         from unnest($3::text[], $4::text[], $5::timestamptz[]) with ordinality as t (id, event_id, at, n)`,
      [organizationId, endpointId, ids, eventIds, times.map((timeMs) => new Date(timeMs))],
    );
  }
  // As it is after some minutes in a service that runs.
  await run('vacuum analyze deliveries', []);
  return endpointId;
}

/** SQL that copies rows with other values in some columns. @param patch a JSON expression over the row `x` and its number `n` */
export const copies = (table: string, numbers: string, which: string, patch: string): string => `
  insert into ${table}
  select (jsonb_populate_record(x, ${patch})).* from ${numbers} join ${table} x on ${which}`;

/** Copies a held message with its request: older ones, `Copy 1` to `Copy <count>`. They have no workflow. */
export async function copyHeld(run: Run, consentId: string, count: number): Promise<void> {
  const now = Date.now();
  const times = Array.from({ length: count }, (_, i) => now - (i + 1) * 1_000);
  const values = [
    times.map((time) => newId('message', time)),
    times.map((time) => newId('consent', time)),
    times.map((time) => new Date(time)),
    consentId,
  ];
  const numbers = `unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as n (message, consent, at, n)`;
  const original = `(select c.message_id from consent c where c.id = $4)`;
  // Due when nobody looks any more.
  const message = `jsonb_build_object('id', n.message, 'consent_id', n.consent, 'submitted_at', n.at,
    'due_at', now() + interval '1 day', 'subject', 'Copy ' || n.n)`;
  await run(copies('outbound_message', numbers, `x.id = ${original}`, message), values);
  const recipient = `jsonb_build_object('message_id', n.message)`;
  await run(copies('outbound_recipient', numbers, `x.message_id = ${original}`, recipient), values);
  const consent = `jsonb_build_object('id', n.consent, 'message_id', n.message, 'created_at', n.at, 'subject', 'Copy ' || n.n)`;
  await run(copies('consent', numbers, 'x.id = $4', consent), values);
}
