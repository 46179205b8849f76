/**
 * Sending given-up deliveries of an endpoint again: its states, and the data passed between API, workflow and activity.
 * Ids and numbers only.
 *
 *   running ⇄ paused
 *      └──┬────┘
 *         ├─ nothing left ─────────────────────────────▶ completed
 *         ├─ a person ended it ────────────────────────▶ cancelled
 *         └─ endpoint inactive, deleted; no webhooks ──▶ stopped, with a reason
 */

import { PLANS, type PlanName } from '#domain/organizations/plans.ts';
import type { StopReason } from './delivery-workflows.ts';

export const RECOVERY_STATES = ['running', 'paused', 'completed', 'cancelled', 'stopped'] as const;
export type RecoveryState = (typeof RECOVERY_STATES)[number];

/** States of deliveries that can be recovered: given up, or waiting for a retry. */
export const RECOVERABLE_STATUSES = ['exhausted', 'failed'] as const;
export type RecoverableStatus = (typeof RECOVERABLE_STATUSES)[number];

/** Concurrent deliveries of one recovery: half of the endpoint's slots, the other half stays for live ones. */
export const RECOVERY_CONCURRENCY = 5;
/** Deliveries a second of one recovery at most. */
export const RECOVERY_PER_SECOND_MAX = 50;
/** Maximum part of an organization's fair use for all its recoveries together. */
const RECOVERY_SHARE = 0.5;

/** Deliveries a second of each of an organization's running recoveries. */
export function recoveryPerSecond(plan: PlanName, running: number): number {
  const perSecond = PLANS[plan].deliveriesPerSecond ?? Number.POSITIVE_INFINITY;
  return Math.min(RECOVERY_PER_SECOND_MAX, (perSecond * RECOVERY_SHARE) / Math.max(1, running));
}

/** Name the workflow is registered under, and those of its signal and query. */
export const RECOVER_DELIVERIES = 'recoverDeliveries';
export const LOOK_AGAIN_SIGNAL = 'lookAgain';
export const RECOVERY_PROGRESS_QUERY = 'progress';

/** Id of the workflow of a recovery. */
export const recoveryWorkflowId = (endpointId: string, recoveryId: string): string =>
  `recover/${endpointId}/${recoveryId}`;

/** Input of `recoverDeliveries` and its activity. */
export interface RecoveryInput {
  readonly recoveryId: string;
  /** Waits after each failed attempt in milliseconds, for deliveries that still have some left. */
  readonly ladderMs: readonly number[];
}

/** The progress of a recovery: the result of the activity and of the `progress` query. */
export interface RecoveryProgress {
  readonly state: RecoveryState;
  /** Null unless the state is `stopped`. */
  readonly stopReason: StopReason | null;
  /** Deliveries in its range when it began. */
  readonly total: number;
  /** Of them sent again until now: `succeeded + failed`. */
  readonly done: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** A recovery that runs and has not been heard of for this long is started again by the sweep. */
export const RECOVERY_OVERDUE_MS = 120_000;
