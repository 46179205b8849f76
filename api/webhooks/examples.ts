import { eventExamples } from './event-examples.ts';

export const endpointExample = {
  id: 'whe_01k8e8f2c0e4x9w2v7a3r5t6y8',
  url: 'https://hooks.example.com/agent-mailbox',
  eventTypes: ['email_received', 'mailbox_deleted'],
  mailboxId: null,
  description: 'Order intake',
  active: true,
  authHeaderName: 'X-Hook-Token',
  disabledReason: null,
  secretPrefix: 'whsec_c2Vj',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
  lastSuccessAt: '2026-11-21T09:16:02.512Z',
  failingSince: null,
  previousSecretExpiresAt: null,
  publicKeySignature: false,
  includeExtracts: false,
  oldestWaitingAt: '2026-11-21T09:16:02.481Z',
  stats: { last24h: { pending: 0, success: 12, failed: 1, exhausted: 0 } },
};

export const endpointStatsExample = {
  hours: [
    { from: '2026-11-21T08:00:00.000Z', pending: 0, success: 0, failed: 0, exhausted: 0 },
    { from: '2026-11-21T09:00:00.000Z', pending: 0, success: 12, failed: 1, exhausted: 0 },
  ],
  total: { pending: 0, success: 12, failed: 1, exhausted: 0 },
};

export const secretExample = 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I=';

export const deliveryExample = {
  id: 'dlv_01k8e8f2c0e4x9w2v7a3r5t6y8',
  eventId: 'evt_01k8e8f2c0e4x9w2v7a3r5t6y8',
  eventType: 'email_received',
  endpointId: endpointExample.id,
  mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'failed',
  reason: null,
  attemptCount: 1,
  maxAttempts: 5,
  lastError: 'the server answered 503',
  responseCode: 503,
  nextAttemptAt: '2026-11-21T09:16:32.611Z',
  createdAt: '2026-11-21T09:16:02.481Z',
  completedAt: null,
  workflowId: `delivery/${endpointExample.id}/fan-out/01k8e8f2c0e4x9w2v7a3r5t6y8`,
  payload: eventExamples.email_received,
};

export const deliveryWithAttemptsExample = {
  ...deliveryExample,
  attempts: [
    {
      number: 1,
      trigger: 'automatic',
      startedAt: '2026-11-21T09:16:02.493Z',
      durationMs: 118,
      responseCode: 503,
      error: 'http_status',
      responseHeaders: { 'content-type': 'text/plain', 'retry-after': '30' },
      responseBody: 'come back later',
      remoteAddress: '203.0.113.10',
    },
  ],
};

const recoveryId = 'rcv_01k8e8f2c0e4x9w2v7a3r5t6y8';
export const recoveryExample = {
  id: recoveryId,
  endpointId: endpointExample.id,
  status: 'exhausted',
  since: '2026-11-20T22:00:00.000Z',
  until: '2026-11-21T09:15:00.000Z',
  state: 'running',
  stopReason: null,
  total: 418,
  done: 120,
  succeeded: 119,
  failed: 1,
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:02.430Z',
  finishedAt: null,
  workflowId: `recover/${endpointExample.id}/${recoveryId}`,
};
