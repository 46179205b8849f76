import { Context } from '@temporalio/activity';
import { type Disabled, disableFailingEndpoints } from '../core/disable-failing-endpoints.ts';
import type { Services } from '../core/services.ts';
import type { WebhookSender } from '../core/webhook-sender.ts';
import type { AttemptInput, AttemptOutput } from '../domain/delivery-workflows.ts';
import type { RecoveryInput, RecoveryProgress } from '../domain/recovery.ts';
import { chooseTransport } from '../mail/outbound/choose-transport.ts';
import type { Transport } from '../mail/outbound/transport.ts';
import { type AttemptContext, attemptDeliveries } from './attempt-deliveries.ts';
import { attemptRecorder } from './attempt-recorder.ts';
import { type DeletedHistory, deleteHistory } from './delete-history.ts';
import { endpointNotes } from './endpoint-notes.ts';
import { endpointSlots } from './endpoint-slots.ts';
import { type OutboundActivities, outboundActivities } from './outbound.ts';
import { recoverSome } from './recover-deliveries.ts';
import { troubleNotes } from './trouble-notes.ts';

export interface ActivityDependencies {
  readonly services: Services;
  readonly sender: WebhookSender;
  /** By which mail leaves; default: the one the settings name. */
  readonly transport?: Transport | undefined;
  /** Aborted when the worker shuts down: requests under way end, no others begin. */
  readonly draining: AbortSignal;
  /** Told when an endpoint answered 410 and was set inactive. */
  readonly onEndpointGone: (endpointId: string) => void;
  /** Told when endpoints had failed for too long and were set inactive. */
  readonly onDisabled: (disabled: readonly Disabled[]) => void;
}

/** The effects that workflows ask for. One set per worker: slots and recorder are shared by all its activities. */
export interface Activities extends OutboundActivities {
  attemptDeliveries(input: AttemptInput): Promise<AttemptOutput>;
  /** Goes on with a recovery for some seconds. */
  recoverSome(input: RecoveryInput): Promise<RecoveryProgress>;
  deleteHistory(): Promise<DeletedHistory>;
}

export function createActivities({
  services,
  sender,
  transport,
  draining,
  onEndpointGone,
  onDisabled,
}: ActivityDependencies): Activities {
  const { db, secrets, log, now } = services;
  const attempt = {
    db,
    secrets,
    sender,
    log,
    now,
    slots: endpointSlots(draining, troubleNotes(db, log)),
    draining,
    recorder: attemptRecorder(db),
    notes: endpointNotes(db, now),
    onEndpointGone,
    async reviewFailing(endpointIds: readonly string[]) {
      const disabled = await disableFailingEndpoints(services, endpointIds);
      if (disabled.length > 0) onDisabled(disabled);
    },
  };
  const attemptContext = (): AttemptContext => {
    const context = Context.current();
    return {
      workflowId: context.info.workflowExecution?.workflowId ?? '',
      heartbeat: () => context.heartbeat(),
      givenUp: context.cancellationSignal,
    };
  };
  return {
    attemptDeliveries: (input) => attemptDeliveries(attempt, input, attemptContext()),
    recoverSome: (input) => recoverSome(attempt, input, attemptContext()),
    ...outboundActivities(services, transport ?? chooseTransport(services.settings)),
    deleteHistory: () => deleteHistory(db, now()),
  };
}
