/** A whole delivery path in one process: worker, dispatcher, an organization, and ways to make things happen in it. */
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Dispatcher, startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { ensureSigningKey } from '#core/webhooks/signing/signing-keys.ts';
import {
  authHeaderPlace,
  newWebhookSecret,
  webhookSecretHint,
  webhookSecretPlace,
} from '#core/webhooks/signing/webhook-signature.ts';
import type { Sql } from '#db/database.ts';
import {
  type EnvelopeMailbox,
  type EnvelopeOrganization,
  EVENT_TYPES,
  type EventType,
  SYSTEM_ACTOR,
} from '#domain/webhooks/event-types.ts';
import type { RunningWorker } from '#worker/start.ts';
import { openTestServices } from './services.ts';
import { temporalConnection } from './temporal-connection.ts';
import { startTestWorker } from './test-worker.ts';
import { waitUntil } from './wait-until.ts';

export interface TestEndpoint {
  readonly id: string;
  readonly secret: string;
}

export interface DeliveryState {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attemptCount: number;
  readonly lastError: string | null;
  readonly responseCode: number | null;
  readonly nextAttemptAt: Date | null;
  readonly completedAt: Date | null;
  readonly workflowId: string | null;
  readonly fanOutId: string | null;
}

export interface DeliveryWorld {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly worker: RunningWorker;
  readonly dispatcher: Dispatcher;
  organization(plan?: string): Promise<EnvelopeOrganization>;
  mailbox(organization: EnvelopeOrganization): Promise<EnvelopeMailbox>;
  endpoint(
    organization: EnvelopeOrganization,
    options: {
      url: string;
      eventTypes?: readonly EventType[];
      mailboxId?: string;
      authHeader?: { name: string; value: string };
      publicKeySignature?: boolean;
      includeExtracts?: boolean;
    },
  ): Promise<TestEndpoint>;
  /** Records an event in a transaction of its own and wakes who makes attempts. @returns deliveries that wait for a claim */
  happen(event: Partial<NewEvent> & Pick<NewEvent, 'organization'>): Promise<number>;
  /** As `happen`, in a process without a lane: the deliveries wait for a claim. */
  happenElsewhere(event: Partial<NewEvent> & Pick<NewEvent, 'organization'>): Promise<number>;
  deliveries(endpointId: string): Promise<DeliveryState[]>;
  /** Waits for the one delivery of an endpoint to be as described. */
  delivery(endpointId: string, is: (delivery: DeliveryState) => boolean, withinMs?: number): Promise<DeliveryState>;
  attempts(
    deliveryId: string,
  ): Promise<{ number: number; error: string | null; responseCode: number | null; trigger: string }[]>;
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** It failed, and its retry waits in a workflow: the fan-out has handed it over. */
export const waitsForRetry = ({ status, workflowId }: DeliveryState): boolean =>
  status === 'failed' && workflowId?.startsWith('delivery/') === true;

/** Short enough for tests to wait for, long enough to act while a delivery waits. */
export const SHORT_LADDER_MS = '40,60,80,100';

export async function deliveryWorld(
  overrides: Readonly<Record<string, string>> = {},
  options: { sender?: WebhookSender } = {},
): Promise<DeliveryWorld> {
  const services = await openTestServices({ WEBHOOK_RETRY_DELAYS_MS: SHORT_LADDER_MS, ...overrides });
  const connection = await temporalConnection();
  const worker = await startTestWorker(services, connection, {
    ...(options.sender === undefined ? {} : { sender: options.sender }),
  });
  const dispatcher = startDispatcher(services, worker.temporal);
  // The sweep of a process that starts also starts what is only gathered yet.
  await waitUntil('the first sweep to be over', async () => {
    const moved = await services.db.query(`select 1 from sweeps where name = 'deliveries' and next_at > now()`);
    return moved.length > 0;
  });
  const rows = rowsOf(services);
  return {
    services,
    temporal: worker.temporal,
    worker,
    dispatcher,
    ...rows,
    async close() {
      await dispatcher.close();
      await worker.close();
      await connection.close();
      await services.close();
    },
  };
}

/** Statements of a transaction in which no lane takes deliveries at once: they wait for a claim. */
export const withoutLeases = ({ query }: Sql): Sql => ({ query });

type Rows = Omit<DeliveryWorld, 'services' | 'temporal' | 'worker' | 'dispatcher' | 'close'>;

/** The part of a world that only needs the database. */
export function rowsOf(services: Services): Rows {
  const { db, secrets } = services;
  let count = 0;
  const happenIn: (event: Parameters<Rows['happen']>[0], sqlOf: (sql: Sql) => Sql) => Promise<number> = async (
    event,
    sqlOf,
  ) => {
    const waiting = await db.transaction((sql) =>
      recordEvents(sqlOf(sql), [
        { type: 'email_received', mailbox: null, actor: SYSTEM_ACTOR, data: { subject: 'Hello' }, ...event },
      ]),
    );
    if (waiting > 0) services.deliveriesDue.wake();
    return waiting;
  };
  const rows: Rows = {
    async organization(plan = 'unlimited') {
      const id = newId('organization');
      const organization = { id, name: `Organization ${++count}`, slug: `${id.slice(-12)}` };
      await db.query(`insert into organizations (id, name, slug, plan) values ($1, $2, $3, $4)`, [
        id,
        organization.name,
        organization.slug,
        plan,
      ]);
      return organization;
    },
    async mailbox(organization) {
      const id = newId('mailbox');
      const localPart = `agent-${id.slice(-10)}`;
      const mailbox = { id, name: 'Agent', address: `${localPart}@agents.test`, localPart, domain: 'agents.test' };
      await db.query(
        `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
         values ($1, $2, $3, $4, $5, $6, 'active', 'synced', $7)`,
        [id, organization.id, localPart, mailbox.domain, mailbox.address, mailbox.name, Buffer.from(id)],
      );
      return mailbox;
    },
    async endpoint(organization, options) {
      const { url, eventTypes = EVENT_TYPES, mailboxId, authHeader } = options;
      const { publicKeySignature = false, includeExtracts = false } = options;
      const id = newId('webhookEndpoint');
      const secret = newWebhookSecret();
      await db.query(
        `insert into webhook_endpoints (id, organization_id, mailbox_id, url, event_types, secret_sealed, secret_prefix,
           auth_header_name, auth_header_value_sealed, public_key_signature, include_extracts)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          id,
          organization.id,
          mailboxId ?? null,
          url,
          eventTypes,
          secrets.seal(secret, webhookSecretPlace(id)),
          webhookSecretHint(secret),
          authHeader?.name ?? null,
          authHeader === undefined ? null : secrets.seal(authHeader.value, authHeaderPlace(id)),
          publicKeySignature,
          includeExtracts,
        ],
      );
      if (publicKeySignature) await ensureSigningKey(db, secrets, organization.id);
      return { id, secret };
    },
    happen: (event) => happenIn(event, (sql) => sql),
    happenElsewhere: (event) => happenIn(event, withoutLeases),
    deliveries: (endpointId) =>
      db.query<DeliveryState>(
        `select id, endpoint_id as "endpointId", event_id as "eventId", status, reason, attempt_count as "attemptCount",
                last_error as "lastError", response_code as "responseCode", next_attempt_at as "nextAttemptAt",
                completed_at as "completedAt", workflow_id as "workflowId", fan_out_id as "fanOutId"
           from deliveries where endpoint_id = $1 order by id`,
        [endpointId],
      ),
    delivery(endpointId, is, withinMs) {
      let last: DeliveryState | undefined;
      const wait = waitUntil(
        `a delivery of ${endpointId}`,
        async () => {
          [last] = await rows.deliveries(endpointId);
          return last !== undefined && is(last) ? last : undefined;
        },
        withinMs,
      );
      return wait.catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
      });
    },
    attempts: (deliveryId) =>
      db.query(
        `select number, error, response_code as "responseCode", trigger from delivery_attempts
          where delivery_id = $1 order by number`,
        [deliveryId],
      ),
    sql: (text, values) => db.query(text, values),
  };
  return rows;
}
