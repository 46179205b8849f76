import { mailboxExample } from '#api/mailboxes/examples.ts';

export const draftSummaryExample = {
  id: 'drf_01k8e8f2c0e4x9w2v7a3r5t6y8',
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  threadId: 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  attachments: [],
  labels: [],
  sizeBytes: 612,
  sendAt: null,
  createdAt: '2026-11-21T09:16:02.481Z',
  updatedAt: '2026-11-21T09:18:40.007Z',
};

export const draftExample = {
  ...draftSummaryExample,
  bcc: ['archive@acme.example'],
  replyTo: [],
  text: 'Dear Ada, your order is on its way.',
  html: null,
  headers: {},
  inReplyTo: null,
};
