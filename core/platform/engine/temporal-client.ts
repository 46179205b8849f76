/**
 * The only client of the engine: bound to namespace and task queue, and the search attributes as typed keys. Core and
 * API start and signal workflows by name; they do not import workflow code.
 */
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { retryUntilClosed } from './retry-until-closed.ts';

const key = {
  text: (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
  list: (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST),
};

/** As the log calls the engine. */
export const ENGINE = 'Temporal';

/** Typed keys of `domain/webhooks/search-attributes.ts`. */
export const searchKeys = {
  organizationId: key.text('OrganizationId'),
  endpointId: key.text('EndpointId'),
  mailboxId: key.text('MailboxId'),
  eventType: key.text('EventType'),
  deliveryIds: key.list('DeliveryIds'),
  eventIds: key.list('EventIds'),
  messageId: key.text('MessageId'),
} as const;

export interface TemporalClient {
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Start workflows in the worker of this very process where possible; needs the worker's connection. */
  readonly eager: boolean;
  /** Whether the engine answers within the time. Never throws. */
  isReachable(timeoutMs?: number): Promise<boolean>;
  close(): Promise<void>;
}

const REACHABLE_TIMEOUT_MS = 2_000;
/** Closing waits for a connection that is being made. */
const CONNECT_WITHIN_MS = 5_000;

/** @param eager true only when `connection` is the NativeConnection of a worker in this process */
export function temporalClient(
  connection: ConnectionLike,
  settings: Settings,
  options: { eager: boolean; close: () => Promise<void> },
): TemporalClient {
  const client = new Client({ connection, namespace: settings.TEMPORAL_NAMESPACE });
  /** Making a connection is not ended by the deadline of the call it is made for. */
  let asking: Promise<boolean> | undefined;
  const ask = (timeoutMs: number): Promise<boolean> =>
    client
      .withDeadline(Date.now() + timeoutMs, () => client.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
  return {
    client,
    namespace: settings.TEMPORAL_NAMESPACE,
    taskQueue: settings.TEMPORAL_TASK_QUEUE,
    eager: options.eager,
    async isReachable(timeoutMs = REACHABLE_TIMEOUT_MS) {
      asking ??= ask(timeoutMs);
      const late = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => late.resolve(false), timeoutMs);
      try {
        return await Promise.race([asking, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      // A channel that is closed while it connects throws where nobody can catch it.
      await asking;
      await options.close();
    },
  };
}

/** Address, TLS and credential of the engine from the settings, as every kind of connection takes them. */
export function temporalConnectionOptions(settings: Settings) {
  if (settings.TEMPORAL_ADDRESS === undefined)
    throw new SettingsError(['TEMPORAL_ADDRESS is not set; only `npm start` runs its own Temporal']);
  const apiKey = settings.TEMPORAL_API_KEY;
  return {
    address: settings.TEMPORAL_ADDRESS,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(settings.TEMPORAL_TLS || apiKey !== undefined ? { tls: true as const } : {}),
  };
}

/** A client for a process without a worker. Connects when first used and again after a loss. */
export function connectTemporal(settings: Settings): TemporalClient {
  const connection = Connection.lazy({
    ...temporalConnectionOptions(settings),
    connectTimeout: CONNECT_WITHIN_MS,
    interceptors: [retryUntilClosed],
  });
  return temporalClient(connection, settings, { eager: false, close: () => connection.close() });
}
