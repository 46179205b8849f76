/**
 * Data passed between dispatcher, workflows and activities of webhook delivery. Ids and times only: bodies, addresses
 * and secrets never enter a workflow history.
 */

/** Names the workflows are registered under. */
export const EVENT_FAN_OUT = 'eventFanOut';
export const ENDPOINT_DELIVERY = 'endpointDelivery';
export const DELETE_HISTORY = 'deleteHistory';

/** Names of the signals and the query of `endpointDelivery`; a fan-out has the signal `carryDeliveries` too. */
export const STOP_DELIVERIES_SIGNAL = 'stopDeliveries';
export const ATTEMPT_NOW_SIGNAL = 'attemptNow';
export const CARRY_DELIVERIES_SIGNAL = 'carryDeliveries';
export const DELIVERY_STATE_QUERY = 'state';

/** Input of `eventFanOut`: the first attempts of everything that waited. */
export interface FanOutInput {
  readonly deliveryIds: readonly string[];
  /** Waits after each failed attempt, in milliseconds. */
  readonly ladderMs: readonly number[];
}

export interface FanOutResult {
  readonly settled: number;
  /** Deliveries passed to `endpointDelivery` workflows. */
  readonly waiting: number;
}

/** Input of `endpointDelivery`: the waits and further attempts of one endpoint's unacknowledged deliveries. */
export interface EndpointDeliveryInput {
  readonly endpointId: string;
  readonly deliveries: readonly WaitingDelivery[];
  readonly ladderMs: readonly number[];
  /** A person asked for one attempt of deliveries that may be final already. */
  readonly manual?: boolean;
}

export interface WaitingDelivery {
  readonly id: string;
  /** When its next attempt is due, in milliseconds since 1970: the row's `next_attempt_at`. */
  readonly dueAtMs: number;
}

/** Why a wait is ended early. The rows decide what happens next; the signal is only a wake-up. */
export const STOP_REASONS = [
  'endpoint_inactive',
  'endpoint_deleted',
  'plan_downgraded',
  'mailbox_deleted',
  'organization_suspended',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Whose deliveries stop. */
export type StopTarget = { readonly endpointIds: readonly string[] } | { readonly organizationId: string };

export interface StopDeliveries {
  readonly reason: StopReason;
}

export interface AttemptNow {
  readonly deliveryId: string;
}

/** Deliveries that the workflow carries from now on, beside its own; of an `endpointDelivery`, of the same endpoint. */
export interface CarryDeliveries {
  readonly deliveries: readonly WaitingDelivery[];
}

/** Answer of the `state` query. */
export interface EndpointDeliveryState {
  readonly phase: 'waiting' | 'attempting' | 'done';
  readonly waiting: readonly WaitingDelivery[];
  /** ISO 8601; null when nothing is waited for. */
  readonly nextAttemptAt: string | null;
  readonly stopReason: StopReason | null;
}

/**
 * `fan-out`: first attempts of many endpoints, where an endpoint in trouble must not delay the others. `endpoint`: those
 * of one endpoint, in a workflow of its own. `manual`: requested by a person, due or not, final or not. `recovery`: the
 * same for many deliveries; uses only slots that live deliveries leave free, and claims no delivery.
 */
export type AttemptKind = 'fan-out' | 'endpoint' | 'manual' | 'recovery';

/** Input of the activity `attemptDeliveries`. */
export interface AttemptInput {
  readonly deliveryIds: readonly string[];
  readonly ladderMs: readonly number[];
  /** Named so in the histories of workflows that run; it has nothing to do with fast lanes. */
  readonly lane: AttemptKind;
}

/** Deliveries that still need an attempt after an activity, by endpoint. All others of its input are final. */
export interface AttemptOutput {
  readonly waiting: readonly WaitingEndpoint[];
}

export interface WaitingEndpoint {
  readonly endpointId: string;
  readonly organizationId: string;
  readonly mailboxId: string | null;
  readonly deliveries: readonly WaitingDelivery[];
}

/** Id of the workflow that processes an endpoint's unacknowledged deliveries of one fan-out. */
export const endpointDeliveryId = (endpointId: string, fanOutId: string): string =>
  `delivery/${endpointId}/${fanOutId}`;

/**
 * Id of the workflow that makes the first attempts at a slow endpoint, gathered from this claim on. It is not that of the
 * claim's fan-out, which may carry earlier deliveries of the endpoint and starts a workflow when they fail.
 */
export const slowEndpointDeliveryId = (endpointId: string, fanOutId: string): string =>
  endpointDeliveryId(endpointId, `${SLOW}${fanOutId}`);

const SLOW = 'slow/';

export const isSlowEndpointDelivery = (workflowId: string, endpointId: string): boolean =>
  workflowId.startsWith(endpointDeliveryId(endpointId, SLOW));
