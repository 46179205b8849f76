/**
 * A Temporal worker: runs the workflows and their activities.
 *
 * On `close` it takes no new work and lets requests under way end (20 s, longer than one may take), then goes. What
 * waits for its turn is not begun; the engine gives it to another worker.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DefaultLogger,
  type LogLevel,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { type ActivityDependencies, createActivities } from '../activities/index.ts';
import { sendNotices } from '../core/member-notices.ts';
import { destinationPolicy } from '../core/safe-destination.ts';
import type { Services } from '../core/services.ts';
import { stopDeliveries } from '../core/stop-deliveries.ts';
import { type TemporalClient, temporalClient } from '../core/temporal-client.ts';
import { createWebhookSender, type WebhookSender } from '../core/webhook-sender.ts';
import { workflowBundle } from './bundle.ts';
import { keepSchedules } from './schedules.ts';

export interface RunningWorker {
  /** Client on the worker's own connection: workflows it starts may run here at once (eager start). */
  readonly temporal: TemporalClient;
  /** Settles when the worker has ended, with an error when it ended by itself. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface WorkerExtras {
  /** Folder that keeps the bundled workflows between starts. */
  readonly bundleCache?: string;
  /** Workflows that are bundled already. */
  readonly bundle?: WorkflowBundleOption;
  /** In place of the one made from the settings (tests). */
  readonly sender?: WebhookSender;
  readonly transport?: ActivityDependencies['transport'];
}

const SHUTDOWN_GRACE = '20 seconds';
const SCHEDULE_RETRY_MS = 60_000;
const SHUTDOWN_FORCE = '30 seconds';
/** Most of them wait for answers. An endpoint that hangs holds 20 at most (`activities/endpoint-slots.ts`). */
const ACTIVITIES_AT_ONCE = 2_000;

/** Sets the SDK's runtime up; once per process, before anything else touches it. The process handles its own signals. */
export function installTemporalRuntime(services: Pick<Services, 'log'>): void {
  const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error } = meta ?? {};
    services.log[write[level satisfies LogLevel]](
      { temporal: true, ...(error instanceof Error ? { error: error.message } : {}) },
      message,
    );
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

export async function startWorker(
  services: Services,
  connection: NativeConnection,
  extras: WorkerExtras = {},
): Promise<RunningWorker> {
  const { settings } = services;
  const sender = extras.sender ?? (await senderOf(services));
  const temporal = temporalClient(connection, settings, { eager: true, close: () => connection.close() });
  const draining = new AbortController();
  const activities = createActivities({
    services,
    sender,
    transport: extras.transport,
    draining: draining.signal,
    onEndpointGone: (endpointId) =>
      stopDeliveries(services, temporal, { endpointIds: [endpointId] }, 'endpoint_inactive'),
    onDisabled(disabled) {
      const endpointIds = disabled.map(({ endpointId }) => endpointId);
      stopDeliveries(services, temporal, { endpointIds }, 'endpoint_inactive');
      const notices = disabled.flatMap((each) => each.notices);
      void sendNotices(services, temporal, notices);
    },
  });
  const options: WorkerOptions = {
    connection,
    namespace: settings.TEMPORAL_NAMESPACE,
    taskQueue: settings.TEMPORAL_TASK_QUEUE,
    workflowBundle: extras.bundle ?? (await workflowBundle(extras.bundleCache)),
    activities: { ...activities },
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    // A killed worker's sticky tasks go to another one soon.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    maxHeartbeatThrottleInterval: '2 seconds',
  };
  const worker = await Worker.create(options);
  const run = worker.run();
  const ended = run.finally(() => sender.close());
  ended.catch(() => {}); // whoever waits for it hears of it; nobody else must
  void makeSchedules(services, temporal, draining.signal);
  return {
    temporal,
    ended,
    async close() {
      draining.abort();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

/** Until it succeeds or the worker ends: without the Schedule no partitions would be made or dropped. */
async function makeSchedules(services: Services, temporal: TemporalClient, draining: AbortSignal): Promise<void> {
  while (!draining.aborted) {
    try {
      return await keepSchedules(temporal);
    } catch (error) {
      if (draining.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      services.log.error({ error: message }, 'the retention schedule could not be made; trying again in a minute');
      await sleep(SCHEDULE_RETRY_MS, undefined, { signal: draining, ref: false }).catch(() => {});
    }
  }
}

async function senderOf({ settings }: Services): Promise<WebhookSender> {
  const file = settings.WEBHOOK_EXTRA_CA;
  return createWebhookSender({
    policy: destinationPolicy(settings),
    ...(file === undefined ? {} : { extraCa: [await readFile(file, 'utf8')] }),
  });
}
