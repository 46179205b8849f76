/**
 * A Temporal worker: runs the workflows and their activities.
 *
 * On `close` it takes no new work, lets requests in flight end (20 s, longer than one may take), then ends. Waiting
 * attempts are not started; the engine gives them to another worker.
 */

import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import {
  DefaultLogger,
  type LogLevel,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { startFastLane } from '#activities/fast-lane.ts';
import {
  type ActivityDependencies,
  attemptDependencies,
  createActivities,
  type WorkerAttempts,
} from '#activities/index.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { ENGINE, type TemporalClient, temporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import { outageLog } from '#core/platform/log/outage-log.ts';
import { FURTHER_CONNECTIONS } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { agreedTemporal, storeAgreedTemporal } from '#core/platform/settings/agreed-settings.ts';
import { retryDelaysMs, type Settings } from '#core/platform/settings/settings.ts';
import { laneBatches } from '#core/webhooks/dispatcher/lane-batches.ts';
import { stopDeliveries } from '#core/webhooks/endpoints/stop-deliveries.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { deliverToReceiver } from '#core/webhooks/webhook-receiver.ts';
import { openSteadyPlans } from '#db/database.ts';
import { loadCommandRules } from '#mailstore/reading/command-rules-file.ts';
import { startAllOutboundAgain } from '#sending/submit/start-outbound.ts';
import { workflowBundle } from './bundle.ts';
import { keepTemporalSetup } from './keep-temporal-setup.ts';
import { watchWorker } from './watch-worker.ts';

export interface RunningWorker {
  /** Client on the worker's own connection: workflows it starts may run here at once (eager start). */
  readonly temporal: TemporalClient;
  /** Whether it takes tasks now. */
  isRunning(): boolean;
  /** Settles when the worker has ended: with an error if it ended unexpectedly, or took no tasks for ten seconds. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface WorkerExtras {
  /** Workflows that are bundled already. */
  readonly bundle?: WorkflowBundleOption;
  /** In place of the one made from the settings (tests). */
  readonly sender?: WebhookSender;
  readonly transport?: ActivityDependencies['transport'];
  /** By which the fast lane starts workflows, in place of the worker's own connection (tests). */
  readonly laneTemporal?: TemporalClient;
  /** In place of `Worker.create` (tests). */
  readonly createWorker?: (options: WorkerOptions) => Promise<Worker>;
}

const SHUTDOWN_GRACE = '20 seconds';
const SHUTDOWN_FORCE = '30 seconds';
/** Most of them wait for answers. A hanging endpoint occupies 20 at most (`activities/endpoint-slots.ts`). */
const ACTIVITIES_AT_ONCE = 2_000;

/** The last warning of the SDK; one per process. */
let lastComplaint: string | undefined;

type MetricsAddress = Pick<Settings, 'API_HOST' | 'TEMPORAL_METRICS_PORT'>;

/** The SDK takes no names. */
function bindAddress({ API_HOST, TEMPORAL_METRICS_PORT }: MetricsAddress): string {
  const host = isIP(API_HOST) === 0 ? '127.0.0.1' : isIP(API_HOST) === 6 ? `[${API_HOST}]` : API_HOST;
  return `${host}:${TEMPORAL_METRICS_PORT}`;
}

/** Sets the SDK's runtime up; once per process, before anything else touches it. The process handles its own signals. */
export function installTemporalRuntime(services: Pick<Services, 'log'>, metrics?: MetricsAddress): void {
  const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error } = meta ?? {};
    const reason = error === undefined ? undefined : reasonOf(error);
    lastComplaint = reason === undefined ? message : `${message}: ${reason}`;
    logSdkLine(services.log, write[level satisfies LogLevel], message, reason);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} },
      ...(metrics === undefined || metrics.TEMPORAL_METRICS_PORT === 0
        ? {}
        : { metrics: { prometheus: { bindAddress: bindAddress(metrics), countersTotalSuffix: true } } }),
    },
  });
}

export async function startWorker(
  services: Services,
  connection: NativeConnection,
  extras: WorkerExtras = {},
): Promise<RunningWorker> {
  const { settings } = services;
  loadCommandRules(settings.COMMAND_RULES);
  const sender = extras.sender ?? (await senderOf(services));
  const temporal = temporalClient(connection, settings, { eager: true, close: () => connection.close() });
  const draining = new AbortController();
  const steady = openSteadyPlans(settings.DATABASE_URL ?? '', FURTHER_CONNECTIONS.workflows);
  const ofWorker: WorkerAttempts = {
    services,
    sender,
    steady,
    draining: draining.signal,
    onEndpointGone: (endpointId) =>
      stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_inactive'),
    onDisabled(disabled) {
      const endpointIds = disabled.map(({ endpointId }) => endpointId);
      stopDeliveries(services, temporal, { endpointIds }, 'endpoint_inactive');
      const notices = disabled.flatMap((each) => each.notices);
      void sendNotices(services, temporal, notices);
    },
  };
  const attempts = attemptDependencies(ofWorker);
  const batches = () =>
    laneBatches(extras.laneTemporal ?? temporal, {
      ladderMs: retryDelaysMs(settings),
      log: services.log,
      now: services.now,
    });
  const lane = settings.WEBHOOK_FAST_LANE === 'on' ? startFastLane(services, attempts, batches()) : undefined;
  const activities = createActivities({
    ...ofWorker,
    attempts,
    laneAttempts: lane,
    transport: extras.transport,
    startNotices: (notices) => sendNotices(services, temporal, notices),
  });
  const options: WorkerOptions = {
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    taskQueue: settings.TEMPORAL_TASK_QUEUE,
    workflowBundle: extras.bundle ?? (await workflowBundle()),
    activities: { ...activities },
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    // A killed worker's sticky tasks go to another one soon.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    maxHeartbeatThrottleInterval: '2 seconds',
  };
  const worker = await (extras.createWorker ?? Worker.create.bind(Worker))(options);
  const setup = keepTemporalSetup(services, temporal, {
    // Processes may have been restarted since Temporal lost its state, so it is compared with what was agreed.
    async onNamespace(namespaceId) {
      const [address, agreed] = [settings.TEMPORAL_ADDRESS, await agreedTemporal(services.db)];
      if (address === undefined || agreed === undefined || agreed.namespaceId === namespaceId) return;
      await storeAgreedTemporal(services.db, { namespaceId, address });
      await startAllOutboundAgain(services.db, new Date(services.now()));
    },
  });
  const watch = watchWorker(worker, () => lastComplaint);
  let endedByItself = false;
  const run = worker
    .run()
    .then(() => {
      if (!draining.signal.aborted) throw new Error('the Temporal worker ended without a request');
    })
    .catch((error: unknown) => {
      endedByItself = !draining.signal.aborted;
      throw error;
    });
  const ended = Promise.race([run, watch.givenUp]).finally(() => watch.close());
  ended.catch(() => {}); // Who waits for it handles the error.
  return {
    temporal,
    ended,
    isRunning: watch.isRunning,
    async close() {
      draining.abort();
      watch.close();
      const laneClosed = lane?.close();
      await setup.close();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      try {
        await run;
      } catch (error) {
        if (!endedByItself) throw error; // Otherwise `ended` has said so.
      } finally {
        await laneClosed;
        await sender.close();
        await steady.close();
      }
    },
  };
}

async function senderOf(services: Services): Promise<WebhookSender> {
  const { settings } = services;
  const file = settings.WEBHOOK_EXTRA_CA;
  return createWebhookSender({
    policy: destinationPolicy(settings),
    receiver: (url, request) => deliverToReceiver(services, url, request),
    ...(file === undefined ? {} : { extraCa: [await readFile(file, 'utf8')] }),
  });
}

/** Pollers of the SDK report each of their retries from the 16th on, about two lines a second. */
const RETRIED_CALL = /^gRPC call \w+ retried \d+ times/;

/**
 * Logs a line of the Temporal SDK. Retries of its calls are part of an outage of Temporal: one line for all of them.
 */
export function logSdkLine(
  log: Logger,
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error',
  message: string,
  reason: string | undefined,
): void {
  if (RETRIED_CALL.test(message)) outageLog(log, ENGINE).noticed(reason ?? message);
  else log[level]({ temporal: true, reason }, message);
}
