import { Context } from '@temporalio/activity';
import { patientDatabase } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Disabled, disableFailingEndpoints } from '#core/webhooks/endpoints/disable-failing-endpoints.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import type { Sql } from '#db/database.ts';
import { probeWrites } from '#db/queries/platform/probe-writes.ts';
import type { RetentionInput, RetentionOutput } from '#domain/retention.ts';
import { HEARTBEAT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptInput, AttemptOutput } from '#domain/webhooks/delivery-workflows.ts';
import type { RecoveryInput, RecoveryProgress } from '#domain/webhooks/recovery.ts';
import type { StartNotices } from '#sending/consent/consent-gate.ts';
import { chooseTransport } from '#sending/transports/choose-transport.ts';
import type { Transport } from '#sending/transports/transport.ts';
import { type AttemptContext, attemptDeliveries } from './attempt-deliveries.ts';
import { attemptRecorder } from './attempt-recorder.ts';
import { retentionStep } from './delete-history.ts';
import { endpointNotes } from './endpoint-notes.ts';
import { endpointSlots } from './endpoint-slots.ts';
import type { LaneAttempts } from './fast-lane/wait-for-lanes.ts';
import type { AttemptDependencies } from './make-attempt.ts';
import { type OutboundActivities, outboundActivities } from './outbound.ts';
import { quietFaults } from './quiet-faults.ts';
import { recoverSome } from './recover-deliveries.ts';
import { responsiveClock } from './responsive-clock.ts';
import { troubleNotes } from './trouble-notes.ts';

/** What the attempts of a worker need from outside. */
export interface WorkerAttempts {
  readonly services: Services;
  readonly sender: WebhookSender;
  /** Connections for statements that are repeated often; default: those of the services. */
  readonly steady?: Sql | undefined;
  /** Aborted when the worker shuts down: requests in flight end, no others start. */
  readonly draining: AbortSignal;
  /** Called when an endpoint answered 410 throughout and was set inactive. */
  readonly onEndpointGone: (endpointId: string) => void;
  /** Called when endpoints had failed for too long and were set inactive. */
  readonly onDisabled: (disabled: readonly Disabled[]) => void;
}

export interface ActivityDependencies extends WorkerAttempts {
  /** Shared with the fast lane of the worker; default: of the activities alone. */
  readonly attempts?: AttemptDependencies;
  readonly laneAttempts?: LaneAttempts | undefined;
  /** By which mail leaves; default: the one the settings name. */
  readonly transport?: Transport | undefined;
  /** Starts notices about held mail. */
  readonly startNotices: StartNotices;
}

/** The effects that workflows ask for. One set per worker: slots and recorder are shared by all its activities. */
export interface Activities extends OutboundActivities {
  attemptDeliveries(input: AttemptInput): Promise<AttemptOutput>;
  /** Continues a recovery for some seconds. */
  recoverSome(input: RecoveryInput): Promise<RecoveryProgress>;
  /** Carries out one step of retention for half a minute at most. */
  retentionStep(input: RetentionInput): Promise<RetentionOutput>;
}

/** The parts of attempts that a worker has once: slots, recorder, notes. */
export function attemptDependencies({
  services,
  sender,
  steady,
  draining,
  onEndpointGone,
  onDisabled,
}: WorkerAttempts): AttemptDependencies {
  const { secrets, log, now } = services;
  const db = patientDatabase(services.db, log, draining);
  draining.addEventListener('abort', () => sender.drain());
  return {
    db,
    steady: steady === undefined ? db : patientDatabase(steady, log, draining),
    secrets,
    sender,
    log,
    now,
    slots: endpointSlots(draining, troubleNotes(services.db, log), responsiveClock(draining)),
    draining,
    recorder: attemptRecorder({ sql: services.db, probe: () => probeWrites(services.db), draining, log }),
    notes: endpointNotes(db, now),
    onEndpointGone,
    async reviewFailing(endpointIds: readonly string[]) {
      const disabled = await db.patiently(() => disableFailingEndpoints(services, endpointIds));
      if (disabled.length > 0) onDisabled(disabled);
    },
  };
}

const HEARTBEATS_PER_TIMEOUT = 3;

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { services, sender, transport, draining, startNotices, laneAttempts } = dependencies;
  const attempt = dependencies.attempts ?? attemptDependencies(dependencies);
  const attemptContext = (): AttemptContext => {
    const context = Context.current();
    return {
      workflowId: context.info.workflowExecution?.workflowId ?? '',
      heartbeat: () => context.heartbeat(),
      heartbeatEveryMs: (context.info.heartbeatTimeoutMs ?? HEARTBEAT_TIMEOUT_MS) / HEARTBEATS_PER_TIMEOUT,
      givenUp: context.cancellationSignal,
      repeated: context.info.attempt > 1,
      laneAttempts,
    };
  };
  const outbound = outboundActivities(
    services,
    { transport: transport ?? chooseTransport(services.settings), chat: sender, startNotices },
    attempt.db,
    draining,
  );
  return {
    attemptDeliveries: quietFaults((input) => attemptDeliveries(attempt, input, attemptContext())),
    recoverSome: quietFaults((input) => recoverSome(attempt, input, attemptContext())),
    passConsentGate: quietFaults(outbound.passConsentGate),
    attemptOutbound: quietFaults(outbound.attemptOutbound),
    cancelOutbound: quietFaults(outbound.cancelOutbound),
    sendMemberNotice: quietFaults(outbound.sendMemberNotice),
    retentionStep(input) {
      const context = Context.current();
      return retentionStep(services, input, {
        heartbeat: (done) => context.heartbeat(done),
        isEnding: () => context.cancellationSignal.aborted || draining.aborted,
      });
    },
  };
}
