/**
 * The only client of the engine: bound to namespace and task queue, and the search attributes as typed keys. Core and
 * API start and signal workflows by name; they do not import workflow code.
 */
import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  ServiceError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { agreedTemporal, otherTemporal } from '#core/platform/settings/agreed-settings.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import type { Sql } from '#db/database.ts';

const key = {
  text: (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
  list: (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST),
};

/** As the log calls the engine. */
export const ENGINE = 'Temporal';

/** Typed keys of `domain/webhooks/delivery-status.ts`. */
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
const NAMESPACE_WITHIN_MS = 3_000;
/** google.rpc.Code */
const NOT_FOUND = 5;

/** @param eager true only when `connection` is the NativeConnection of a worker in this process */
export function temporalClient(
  connection: ConnectionLike,
  settings: Settings,
  options: { eager: boolean; close: () => Promise<void>; beforeStart?: (client: Client) => Promise<void> },
): TemporalClient {
  const beforeStart = async () => options.beforeStart?.(client);
  const client: Client = new Client({
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    interceptors: {
      workflow: [
        {
          start: (input, next) => beforeStart().then(() => next(input)),
          signalWithStart: (input, next) => beforeStart().then(() => next(input)),
        },
      ],
    },
  });
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

/**
 * A client for a process without a worker. Connects when first used and again after a loss.
 *
 * @param db whose Temporal it must be: until that was seen once, starts of workflows fail as if it were unreachable
 */
export function connectTemporal(settings: Settings, db?: Sql): TemporalClient {
  let isOwn = db === undefined;
  async function beforeStart(client: Client): Promise<void> {
    if (isOwn || db === undefined) return;
    const other = await findOtherTemporal(db, client, settings);
    if (other !== undefined) throw new ServiceError(other);
    isOwn = true;
  }
  const connection = Connection.lazy({
    ...temporalConnectionOptions(settings),
    connectTimeout: CONNECT_WITHIN_MS,
    interceptors: [retryUntilClosed],
  });
  return temporalClient(connection, settings, { eager: false, close: () => connection.close(), beforeStart });
}

/**
 * @returns what is wrong with the server of a client, which is not that of the installation, and what to do
 * @throws if the server or the database does not answer
 */
export async function findOtherTemporal(
  db: Sql,
  { connection }: Client,
  { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE }: Settings,
): Promise<string | undefined> {
  const agreed = await agreedTemporal(db);
  if (agreed === undefined || address === undefined || address === agreed.address) return undefined;
  return otherTemporal(agreed, { namespaceId: await namespaceIdOf(connection, TEMPORAL_NAMESPACE), address });
}

/** @returns undefined: there is no such namespace */
export async function namespaceIdOf(
  connection: Pick<ConnectionLike, 'workflowService' | 'withDeadline'>,
  namespace: string,
): Promise<string | undefined> {
  try {
    const { namespaceInfo } = await connection.withDeadline(Date.now() + NAMESPACE_WITHIN_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return namespaceInfo?.id ?? undefined;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) return undefined;
    throw error;
  }
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

/** google.rpc.Code: CANCELLED. It is not retried. */
const CANCELLED = 1;

const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());

/**
 * The SDK's retries of calls to Temporal, which end when the connection is closed. The SDK's own retries use a timer,
 * and a connection that was closed meanwhile throws in it, where nobody can catch it: a process that stops while
 * Temporal is unreachable would crash.
 */
export const retryUntilClosed: Interceptor = (options, nextCall) => {
  let first = true;
  return retry(options, (again) => {
    if (first) {
      first = false;
      return nextCall(again);
    }
    try {
      return nextCall(again);
    } catch {
      return cancelledCall();
    }
  });
};

/** A call that ends as soon as it is started. */
function cancelledCall(): Call {
  const nothing = (): void => {};
  return {
    start: (metadata, listener) =>
      listener?.onReceiveStatus?.({ code: CANCELLED, details: 'the connection was closed', metadata }),
    cancelWithStatus: nothing,
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    getPeer: () => 'unknown',
    getAuthContext: () => null,
  };
}
