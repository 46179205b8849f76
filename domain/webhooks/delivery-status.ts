/**
 * States of a webhook delivery (interface §3).
 *
 *   pending ──2xx──▶ success
 *      │ └─failed attempt, one left──▶ failed ──2xx──▶ success
 *      │                                 │ └─failed attempt, one left──▶ failed
 *      └──────── stopped, unsafe ────────┴── fifth failure, stopped, unsafe ──▶ exhausted
 *
 * `success` and `exhausted` are final; only a manual resend (`manual` attempt) may turn `exhausted` into `success`.
 */
export const DELIVERY_STATUSES = ['pending', 'success', 'failed', 'exhausted'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery was given up. */
export const EXHAUSTED_REASONS = [
  'attempts_exhausted',
  'endpoint_inactive',
  'endpoint_deleted',
  'endpoint_gone',
  'plan_downgraded',
  'unsafe_destination',
  'mailbox_deleted',
  'organization_suspended',
] as const;
export type ExhaustedReason = (typeof EXHAUSTED_REASONS)[number];

/** Allowed changes of status by the automatic ladder. */
export const DELIVERY_TRANSITIONS: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  pending: ['success', 'failed', 'exhausted'],
  failed: ['success', 'failed', 'exhausted'],
  success: [],
  exhausted: [],
};

/** Why an attempt was made: by the ladder, or because a person asked for it. */
export const ATTEMPT_TRIGGERS = ['automatic', 'manual'] as const;
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number];

/** Errors of an attempt; the closed list of `attempts[].error`. */
export const ATTEMPT_ERRORS = [
  'timeout',
  'dns_failed',
  'connect_refused',
  'connect_failed',
  'tls_failed',
  'reset',
  'http_status',
  'unsafe_destination',
  'response_too_large',
  'aborted',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Why an endpoint was set inactive by the service; null when its owner did it. */
export const DISABLED_REASONS = ['gone', 'failing', 'suspended'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
