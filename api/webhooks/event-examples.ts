import type { Actor, EventEnvelope, EventType } from '#domain/webhooks/event-types.ts';

const organization = { id: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8', name: 'Acme', slug: 'acme' };

const mailbox = {
  id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Order desk',
  address: 'calm-otter-4821@agents.example.com',
  localPart: 'calm-otter-4821',
  domain: 'agents.example.com',
};

const snapshot = {
  ...mailbox,
  status: 'active',
  metadata: { team: 'orders' },
  clientId: 'order-desk-1',
  createdAt: '2026-11-21T09:15:00.000Z',
};

const customer: Actor = {
  type: 'external',
  id: null,
  name: 'Ada Byron',
  email: 'ada@customer.example',
  address: 'ada@customer.example',
};
const person: Actor = {
  type: 'user',
  id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Grace Hill',
  email: 'grace@acme.example',
  address: null,
};
const key: Actor = {
  type: 'api_key',
  id: 'key_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Provisioning',
  email: null,
  address: null,
};
const agent: Actor = { type: 'mailbox', id: mailbox.id, name: mailbox.name, email: null, address: mailbox.address };

const messageId = 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8';
const threadId = 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8';

const consent = {
  consentId: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  messageId,
  recipients: ['ada@customer.example'],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way and should arrive on Tuesday.',
  expiresAt: '2026-11-28T09:16:02.481Z',
};

const example = (
  type: EventType,
  actor: Actor,
  data: object,
  occurredAt = '2026-11-21T09:16:02.481Z',
): EventEnvelope<object> => ({
  id: 'evt_01k8e8f2c0e4x9w2v7a3r5t6y8',
  type,
  occurredAt,
  organization,
  mailbox,
  actor,
  data,
});

/** What endpoints with `includeExtracts` get in the example of `email_received` too. */
const extracts = {
  otp: '482913',
  otpCandidates: [{ code: '482913', confidence: 0.97 }],
  links: [{ url: 'https://shop.example/confirm?t=b1c2', text: 'Confirm address', kind: 'confirm', confidence: 0.98 }],
};

/** A realistic body for each event type. */
export const eventExamples: Readonly<Record<EventType, EventEnvelope<object>>> = {
  email_received: example('email_received', customer, {
    messageId,
    threadId,
    from: 'Ada Byron <ada@customer.example>',
    to: [mailbox.address],
    cc: [],
    subject: 'Where is my order 4711?',
    preview: 'Hello, I ordered last Monday and have not heard from you since. Could you have a look?',
    receivedAt: '2026-11-21T09:16:02.481Z',
    sizeBytes: 4_213,
    attachments: [{ id: '1', filename: 'order.pdf', contentType: 'application/pdf', sizeBytes: 2_048 }],
    labels: [],
    authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  }),
  email_sent: example('email_sent', agent, {
    messageId,
    threadId,
    from: `Order desk <${mailbox.address}>`,
    to: ['Ada Byron <ada@customer.example>'],
    cc: [],
    subject: 'Re: Where is my order 4711?',
    sentAt: '2026-11-21T09:16:02.481Z',
    via: 'relay',
  }),
  email_blocked: example('email_blocked', customer, {
    direction: 'inbound',
    messageId: null,
    from: 'ada@customer.example',
    to: [mailbox.address],
    subject: 'You have won',
    reason: 'blocked_sender',
    rule: 'customer.example',
  }),
  mailbox_created: example('mailbox_created', key, { mailbox: snapshot }),
  mailbox_deleted: example('mailbox_deleted', person, { mailbox: { ...snapshot, status: 'deleting' } }),
  outbound_consent_requested: example('outbound_consent_requested', agent, consent),
  outbound_consent_approved: example('outbound_consent_approved', person, {
    ...consent,
    decision: { scope: 'address', decidedAt: '2026-11-21T09:40:11.020Z', changes: null },
  }),
  outbound_consent_denied: example('outbound_consent_denied', person, {
    ...consent,
    decision: { reason: 'Not a customer of ours.', decidedAt: '2026-11-21T09:40:11.020Z' },
  }),
};

/** Bodies of test deliveries. */
export const testExamples: Readonly<Record<EventType, EventEnvelope<object> & { readonly extracts?: object }>> = {
  ...eventExamples,
  email_received: { ...eventExamples.email_received, extracts },
};
