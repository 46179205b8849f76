import { defineQuery, defineSignal } from '@temporalio/workflow';
import { CANCEL_SIGNAL, DECIDE_SIGNAL } from '#domain/sending/outbound-workflow.ts';
import {
  ATTEMPT_NOW_SIGNAL,
  type AttemptNow,
  CARRY_DELIVERIES_SIGNAL,
  type CarryDeliveries,
  DELIVERY_STATE_QUERY,
  type EndpointDeliveryState,
  STOP_DELIVERIES_SIGNAL,
  type StopDeliveries,
} from '#domain/webhooks/delivery-workflows.ts';
import { LOOK_AGAIN_SIGNAL, RECOVERY_PROGRESS_QUERY, type RecoveryProgress } from '#domain/webhooks/recovery.ts';

/** The endpoint was set inactive or deleted, or its organization lost webhooks: end the wait and read the rows. */
export const stopDeliveries = defineSignal<[StopDeliveries]>(STOP_DELIVERIES_SIGNAL);

/** A person asked to send a waiting delivery now. */
export const attemptNow = defineSignal<[AttemptNow]>(ATTEMPT_NOW_SIGNAL);

/** More deliveries for this workflow, which was started before with a part of them. */
export const carryDeliveries = defineSignal<[CarryDeliveries]>(CARRY_DELIVERIES_SIGNAL);

/** The waiting deliveries, and until when they wait. */
export const deliveryState = defineQuery<EndpointDeliveryState>(DELIVERY_STATE_QUERY);

/** The consent of a held message was decided; its row says how. */
export const decide = defineSignal(DECIDE_SIGNAL);

/** Stop what is not sent yet. */
export const cancel = defineSignal(CANCEL_SIGNAL);

/** The row of a recovery, or a row it depends on, was changed. */
export const lookAgain = defineSignal(LOOK_AGAIN_SIGNAL);

/** Progress of a recovery at its last check; null before the first. */
export const recoveryProgress = defineQuery<RecoveryProgress | null>(RECOVERY_PROGRESS_QUERY);
