/** Metrics of the service, for Prometheus at `/metrics`. Labels have few values; ids are never labels. */
import { Counter, Gauge, Histogram } from '@prometheus-io/client';

/** Attempts by outcome: `delivered`, or the error of `domain/webhooks/delivery-status.ts`. */
export const attemptsTotal = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts of webhook deliveries by outcome.',
  labelNames: ['outcome'],
});

/** Seconds from the start of an attempt to its outcome. */
export const attemptSeconds = new Histogram({
  name: 'webhook_attempt_seconds',
  help: 'Duration of attempts of webhook deliveries.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
});

/** Seconds from the event to the acknowledgement, first attempts only: what a customer waits for. */
export const deliverySeconds = new Histogram({
  name: 'webhook_first_attempt_latency_seconds',
  help: 'Time from the recording of an event to the outcome of the first attempt of its delivery.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
});

/** Deliveries that were given up, by reason. */
export const exhaustedTotal = new Counter({
  name: 'webhook_deliveries_exhausted_total',
  help: 'Webhook deliveries given up after an attempt, by reason.',
  labelNames: ['reason'],
});

export const fanOutsTotal = new Counter({
  name: 'webhook_fan_outs_total',
  help: 'Fan-out workflows started by the dispatcher of this process.',
});

export const inFlightDeliveries = new Gauge({
  name: 'webhook_deliveries_in_flight',
  help: 'Deliveries claimed by the dispatcher of this process whose first attempt has not ended.',
});

export const laneDeliveries = new Gauge({
  name: 'webhook_fast_lane_in_flight',
  help: 'First attempts of the fast lane of this process that are in flight.',
});

/** Seconds a request took, by method and status class. */
export const apiRequestSeconds = new Histogram({
  name: 'api_request_seconds',
  help: 'Duration of API requests by method and class of status.',
  labelNames: ['method', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
});

/** Messages at the inbound SMTP listener, by outcome. */
export const smtpMessagesTotal = new Counter({
  name: 'smtp_messages_total',
  help: 'Messages at the inbound SMTP listener by outcome: accepted, refused (5xx), deferred (4xx).',
  labelNames: ['outcome'],
});

/** The checks of `/readyz`, by name (`core/process/readiness.ts`): 1 when ok. */
export const readinessCheck = new Gauge({
  name: 'readiness_check',
  help: 'Whether a check of /readyz is ok (1) or not (0).',
  labelNames: ['check'],
});

export const readyGauge = new Gauge({ name: 'ready', help: 'Whether the process is ready (1) or not (0).' });

/** Seconds since 1970. */
export const certificateExpiry = new Gauge({
  name: 'tls_certificate_expiry_timestamp_seconds',
  help: 'End of validity of the certificate of the mail listeners, in seconds since 1970.',
});
