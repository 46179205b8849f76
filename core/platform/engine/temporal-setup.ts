/**
 * The namespace and the search attributes that the service needs in Temporal. They are created if missing, at the start
 * and again when Temporal has lost its state.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { type AgreedTemporal, otherTemporal } from '#core/platform/settings/agreed-settings.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { SEARCH_ATTRIBUTES } from '#domain/webhooks/delivery-status.ts';
import { namespaceIdOf, type temporalConnectionOptions } from './temporal-client.ts';

const CONNECT_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 3_000;
/** A new namespace is known to every part of the server within some ten seconds. */
const USABLE_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 500;
/** How long a namespace that we make keeps closed workflows; that of docker-compose.yml. */
const NAMESPACE_RETENTION_MS = 72 * 3_600_000;
/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE_TYPE = { Keyword: 2, KeywordList: 7 } as const;
/** temporal.api.enums.v1.TaskQueueType */
const WORKFLOW_TASK_QUEUE = 1;
/** google.rpc.Code */
const GRPC = { notFound: 5, alreadyExists: 6 } as const;

type TemporalConnectionOptions = ReturnType<typeof temporalConnectionOptions>;
type TemporalServices = Pick<ConnectionLike, 'workflowService' | 'operatorService' | 'withDeadline'>;

const hasCode = (error: unknown, code: number): boolean => isGrpcServiceError(error) && Number(error.code) === code;
/** The namespace is not there. */
export const isNamespaceMissing = (error: unknown): boolean => hasCode(error, GRPC.notFound);

/**
 * Creates the missing namespace and search attributes. A namespace is created only under the name that the database
 * knows: a misspelled one would be a world of its own, without an error.
 *
 * @returns what was created, in words; empty: everything existed
 * @throws {SettingsError} if the server does not allow it, e.g. Temporal Cloud, with the command that creates it
 */
export async function completeTemporal(connection: TemporalServices, namespace: string): Promise<string[]> {
  const made: string[] = [];
  if (await makeNamespace(connection, namespace)) made.push(`namespace ${namespace}`);
  const attributes = await addSearchAttributes(connection, namespace);
  if (attributes.length > 0) made.push(`search attributes ${attributes.join(', ')}`);
  return made;
}

/**
 * The same at the start of a process, over its own connection, waiting until a new namespace can be used.
 *
 * @param mayCreateNamespace whether `migrate` or `npm start` runs, or the database was set up with this namespace
 * @param agreed what the server is compared with; undefined: not known, or a change was confirmed
 * @returns what was created, in words, and what the server is now
 * @throws {SettingsError} if the server does not answer, is another one, or does not let us create what is missing
 */
export async function requireTemporal(
  options: TemporalConnectionOptions,
  namespace: string,
  {
    mayCreateNamespace,
    agreed,
  }: { readonly mayCreateNamespace: boolean; readonly agreed?: AgreedTemporal | undefined },
): Promise<{ readonly made: string[]; readonly madeNamespace: boolean; readonly temporal: AgreedTemporal }> {
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...options, connectTimeout: CONNECT_WITHIN_MS });
  } catch (error) {
    throw new SettingsError([
      `TEMPORAL_ADDRESS: no Temporal with namespace "${namespace}" answers at ${options.address}: ${reasonOf(error)}. ` +
        'Start it, correct TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE or TEMPORAL_TLS, or unset TEMPORAL_ADDRESS under `npm start`',
    ]);
  }
  try {
    const { address } = options;
    const other = otherTemporal(agreed, { namespaceId: await namespaceIdOf(connection, namespace), address });
    if (other !== undefined) throw new SettingsError([other]);
    if (!mayCreateNamespace) await requireNamespace(connection, namespace);
    const madeNamespace = await makeNamespace(connection, namespace);
    const made = madeNamespace ? [`namespace ${namespace}`] : [];
    for (const deadline = Date.now() + USABLE_WITHIN_MS; ; ) {
      try {
        made.push(...(await completeTemporal(connection, namespace)));
        const namespaceId = await namespaceIdOf(connection, namespace);
        if (namespaceId !== undefined) return { made, madeNamespace, temporal: { namespaceId, address } };
      } catch (error) {
        // Parts of the server do not know a new namespace yet.
        if (!(madeNamespace || isNamespaceMissing(error)) || Date.now() > deadline) throw error;
      }
      await delay(LOOK_AGAIN_MS);
    }
  } finally {
    await connection.close();
  }
}

const answer = <Result>(connection: TemporalServices, ask: () => Promise<Result>): Promise<Result> =>
  connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);

async function requireNamespace(connection: TemporalServices, namespace: string): Promise<void> {
  try {
    await answer(connection, () => connection.workflowService.describeNamespace({ namespace }));
  } catch (error) {
    if (!isNamespaceMissing(error)) throw error;
    throw new SettingsError([
      `TEMPORAL_NAMESPACE: the server has no namespace "${namespace}". Correct the name, or run \`npm run migrate\`, which creates it`,
    ]);
  }
}

/** @returns whether it was made by this call */
async function makeNamespace(connection: TemporalServices, namespace: string): Promise<boolean> {
  const { workflowService } = connection;
  try {
    await answer(connection, () => workflowService.describeNamespace({ namespace }));
    return false;
  } catch (error) {
    if (!isNamespaceMissing(error)) throw error;
  }
  try {
    await answer(connection, () =>
      workflowService.registerNamespace({
        namespace,
        description: 'Agent Mailbox',
        workflowExecutionRetentionPeriod: msToTs(NAMESPACE_RETENTION_MS),
      }),
    );
    return true;
  } catch (error) {
    if (hasCode(error, GRPC.alreadyExists)) return false;
    throw new SettingsError([
      `TEMPORAL_NAMESPACE: the server has no namespace "${namespace}" and does not let this service create it (${reasonOf(error)}). ` +
        `Create it yourself: temporal operator namespace create --namespace ${namespace} --retention 72h`,
    ]);
  }
}

/** What a namespace has of what the service needs. */
export interface TemporalState {
  readonly namespaceId: string | undefined;
  readonly missingAttributes: readonly string[];
  /** Workers that ask for tasks of the queue. */
  readonly workers: number;
}

/**
 * Looks, and changes nothing, over its own connection.
 *
 * @throws if the server does not answer
 */
export async function inspectTemporal(
  options: TemporalConnectionOptions,
  namespace: string,
  taskQueue: string,
): Promise<TemporalState> {
  const connection = await Connection.connect({ ...options, connectTimeout: CONNECT_WITHIN_MS });
  try {
    const namespaceId = await namespaceIdOf(connection, namespace);
    if (namespaceId === undefined) return { namespaceId, missingAttributes: [], workers: 0 };
    const missing = await missingAttributes(connection, namespace);
    const { pollers } = await answer(connection, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: WORKFLOW_TASK_QUEUE,
      }),
    );
    return { namespaceId, missingAttributes: missing.map(([name]) => name), workers: pollers.length };
  } finally {
    await connection.close();
  }
}

async function missingAttributes(connection: TemporalServices, namespace: string) {
  const { operatorService } = connection;
  const { customAttributes } = await answer(connection, () => operatorService.listSearchAttributes({ namespace }));
  return Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => customAttributes[name] === undefined);
}

/** @returns names of those that were added */
async function addSearchAttributes(connection: TemporalServices, namespace: string): Promise<string[]> {
  const { operatorService } = connection;
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return [];
  try {
    await answer(connection, () =>
      operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_VALUE_TYPE[type]])),
      }),
    );
  } catch (error) {
    // Another process may have added them meanwhile.
    if ((await missingAttributes(connection, namespace)).length === 0) return [];
    throw new SettingsError([
      `TEMPORAL_NAMESPACE: "${namespace}" lacks search attributes and does not let this service add them (${reasonOf(error)}). ` +
        `Add them yourself: temporal operator search-attribute create --namespace ${namespace} ` +
        missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' '),
    ]);
  }
  return missing.map(([name]) => name);
}
