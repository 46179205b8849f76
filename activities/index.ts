/**
 * The effects that workflows ask for, and the parts that those of a worker share.
 *
 * Results are recorded before anything throws, so each activity can be repeated from its start after an outage of the
 * database: the rows say what remains.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { findErasure, finishErasure } from '#administration/erasure/erase.ts';
import { runMove } from '#administration/moving/run-move.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { patientDatabase } from '#core/platform/process/patient-database.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import type { Sql } from '#db/database.ts';
import { isInfrastructureError } from '#db/infrastructure-error.ts';
import { probeWrites } from '#db/queries/platform/probe-writes.ts';
import { ERASURE_HEARTBEAT_MS } from '#domain/erasure-workflow.ts';
import { MOVE_HEARTBEAT_MS } from '#domain/mailbox-moves.ts';
import type { MemberNoticeProgress } from '#domain/organizations/member-notices.ts';
import type { RetentionInput, RetentionOutput } from '#domain/retention.ts';
import type { GateResult, OutboundProgress } from '#domain/sending/outbound-workflow.ts';
import { HEARTBEAT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import type { AttemptInput, AttemptOutput } from '#domain/webhooks/delivery-workflows.ts';
import type { RecoveryInput, RecoveryProgress } from '#domain/webhooks/recovery.ts';
import { attemptMessage, cancelMessage, type RoundControl } from '#sending/attempt/attempt-message.ts';
import { passConsentGate, type StartNotices } from '#sending/consent/consent-gate.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { chooseTransport } from '#sending/transports/choose-transport.ts';
import type { Transport } from '#sending/transports/transport.ts';
import { type AttemptContext, attemptDeliveries, type LaneAttempts, ShuttingDown } from './attempt-deliveries.ts';
import { retentionStep } from './delete-history.ts';
import { type EndpointsSetInactive, endpointHealth } from './endpoint-health.ts';
import { endpointSlots, responsiveClock } from './endpoint-slots.ts';
import { type AttemptDependencies, attemptRecorder } from './make-attempt.ts';
import { recoverSome } from './recover-deliveries.ts';

/** What the attempts of a worker need from outside. */
export interface WorkerAttempts extends EndpointsSetInactive {
  readonly services: Services;
  readonly sender: WebhookSender;
  /** Connections for statements that are repeated often; default: those of the services. */
  readonly steady?: Sql | undefined;
  /** Aborted when the worker shuts down: requests in flight end, no others start. */
  readonly draining: AbortSignal;
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

/** One set per worker: slots and recorder are shared by all its activities. */
export interface Activities {
  attemptDeliveries(input: AttemptInput): Promise<AttemptOutput>;
  /** Continues a recovery for some seconds. */
  recoverSome(input: RecoveryInput): Promise<RecoveryProgress>;
  passConsentGate(messageId: string): Promise<GateResult>;
  attemptOutbound(messageId: string): Promise<OutboundProgress>;
  cancelOutbound(messageId: string): Promise<void>;
  sendMemberNotice(noticeId: string): Promise<MemberNoticeProgress>;
  /** Does what is left of an erasure. */
  eraseContent(erasureId: string): Promise<void>;
  /** Does what is left of an export or import of a mailbox. */
  moveMailbox(moveId: string): Promise<void>;
  /** Carries out one step of retention for half a minute at most. */
  retentionStep(input: RetentionInput): Promise<RetentionOutput>;
}

/** The parts of attempts that a worker has once. */
export function attemptDependencies(worker: WorkerAttempts): AttemptDependencies {
  const { services, sender, steady, draining } = worker;
  const { secrets, log, now } = services;
  const db = patientDatabase(services.db, log, draining);
  const health = endpointHealth(services, db, worker);
  draining.addEventListener('abort', () => sender.drain());
  return {
    db,
    steady: steady === undefined ? db : patientDatabase(steady, log, draining),
    secrets,
    sender,
    log,
    now,
    slots: endpointSlots(draining, health.slow, responsiveClock(draining)),
    draining,
    recorder: attemptRecorder({ sql: services.db, probe: () => probeWrites(services.db), draining, log }),
    health,
  };
}

const HEARTBEATS_PER_TIMEOUT = 3;

export function createActivities(dependencies: ActivityDependencies): Activities {
  const { services, sender, draining, startNotices, laneAttempts } = dependencies;
  const attempts = dependencies.attempts ?? attemptDependencies(dependencies);
  const { patiently } = attempts.db;
  const transport = dependencies.transport ?? chooseTransport(services.settings);

  function attemptContext(): AttemptContext {
    const context = Context.current();
    return {
      workflowId: context.info.workflowExecution?.workflowId ?? '',
      heartbeat: () => context.heartbeat(),
      heartbeatEveryMs: (context.info.heartbeatTimeoutMs ?? HEARTBEAT_TIMEOUT_MS) / HEARTBEATS_PER_TIMEOUT,
      givenUp: context.cancellationSignal,
      repeated: context.info.attempt > 1,
      laneAttempts,
    };
  }

  function sendingControl(): RoundControl {
    const context = Context.current();
    return {
      heartbeat: () => context.heartbeat(),
      mayBegin: () => !draining.aborted && !context.cancellationSignal.aborted,
    };
  }

  return {
    attemptDeliveries: quietFaults((input) => attemptDeliveries(attempts, input, attemptContext())),
    recoverSome: quietFaults((input) => recoverSome(attempts, input, attemptContext())),
    // It has no heartbeat and must not outlive its time: the engine repeats it.
    passConsentGate: quietFaults((messageId) => passConsentGate(services, messageId, startNotices)),
    attemptOutbound: quietFaults((messageId) => {
      const control = sendingControl();
      return patiently(() => attemptMessage(services, transport, messageId, control), control.heartbeat);
    }),
    cancelOutbound: quietFaults((messageId) =>
      patiently(() => cancelMessage(services, messageId), sendingControl().heartbeat),
    ),
    sendMemberNotice: quietFaults((noticeId) => {
      const control = sendingControl();
      const send = () => sendMemberNotice(services, { transport, chat: sender }, noticeId, control);
      return patiently(send, control.heartbeat);
    }),
    eraseContent: quietFaults(async (erasureId) => {
      const { heartbeat, mayBegin } = sendingControl();
      const beat = setInterval(heartbeat, ERASURE_HEARTBEAT_MS / HEARTBEATS_PER_TIMEOUT);
      try {
        const row = await findErasure(services.db, erasureId);
        if (row === undefined) return;
        const onPortion = () => {
          if (!mayBegin()) throw new ShuttingDown();
        };
        await finishErasure(services, row, { backups: undefined, onPortion });
      } finally {
        clearInterval(beat);
      }
    }),
    moveMailbox: quietFaults(async (moveId) => {
      const { heartbeat } = sendingControl();
      const beat = setInterval(heartbeat, MOVE_HEARTBEAT_MS / HEARTBEATS_PER_TIMEOUT);
      const ending = new AbortController();
      const end = () => ending.abort(new ShuttingDown());
      const signals = [draining, Context.current().cancellationSignal];
      for (const signal of signals) signal.addEventListener('abort', end);
      if (signals.some(({ aborted }) => aborted)) end();
      try {
        await runMove(services, moveId, ending.signal);
      } finally {
        clearInterval(beat);
        for (const signal of signals) signal.removeEventListener('abort', end);
      }
    }),
    retentionStep(input) {
      const context = Context.current();
      return retentionStep(services, input, {
        heartbeat: (done) => context.heartbeat(done),
        isEnding: () => context.cancellationSignal.aborted || draining.aborted,
      });
    },
  };
}

/**
 * Lets an activity fail without a log line if the cause is an outage of a dependency, which has its line already
 * (`core/platform/log/outage-log.ts`). The engine retries as after every failure.
 */
function quietFaults<Args extends unknown[], Result>(
  activity: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      if (!(error instanceof ShuttingDown) && !isInfrastructureError(error)) throw error;
      throw ApplicationFailure.create({
        message: reasonOf(error),
        category: ApplicationFailureCategory.BENIGN,
        ...(error instanceof Error ? { cause: error } : {}),
      });
    }
  };
}
