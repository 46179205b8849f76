import { mailboxExample } from '#api/mailboxes/examples.ts';

/** A request that waits. */
export const pendingExample = {
  id: 'con_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  status: 'pending',
  recipients: ['ada@customer.example'],
  heldBecause: 'first_contact',
  subject: 'Your order 4711',
  preview: 'Dear Ada, your order is on its way.',
  createdAt: '2026-11-21T09:16:02.481Z',
  expiresAt: '2026-11-28T09:16:02.481Z',
  decision: null,
};

/** One that was decided. */
export const decidedExample = (status: string, scope: string | null, reason: string | null) => ({
  ...pendingExample,
  status,
  decision: {
    scope,
    reason,
    decidedAt: '2026-11-21T09:40:11.020Z',
    decidedBy: {
      type: 'user',
      id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
      name: 'Grace Hill',
      email: 'grace@acme.example',
      address: null,
    },
    changes: null,
  },
});

export const consentMessageExample = {
  consent: pendingExample,
  mailbox: {
    id: mailboxExample.id,
    address: mailboxExample.address,
    name: mailboxExample.name,
    purpose: mailboxExample.purpose,
  },
  heldBecause: {
    kind: 'first_contact',
    sentence: 'First contact with ada@customer.example.',
    recipients: ['ada@customer.example'],
  },
  from: `Order desk <${mailboxExample.address}>`,
  to: ['Ada Byron <ada@customer.example>'],
  cc: [],
  bcc: [],
  replyTo: [],
  recipients: [
    {
      address: 'ada@customer.example',
      as: 'to',
      asked: true,
      status: 'queued',
      domain: 'customer.example',
      toAddress: { count: 0, newest: [] },
      toDomain: {
        count: 1,
        newest: [
          {
            messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y7',
            mailboxId: mailboxExample.id,
            subject: 'Your order 4690',
            sentAt: '2026-11-12T14:03:50.114Z',
          },
        ],
      },
    },
  ],
  subject: 'Your order 4711',
  text: 'Dear Ada, your order is on its way.',
  html: null,
  textOfHtml: null,
  textAndHtml: null,
  truncated: false,
  attachments: [
    {
      id: '2',
      filename: 'invoice-4711.pdf',
      contentType: 'application/pdf',
      sizeBytes: 48_213,
      inline: false,
      contentId: null,
      risks: [],
    },
  ],
  answers: null,
  submittedAt: '2026-11-21T09:16:02.481Z',
  sendAt: null,
  sizeBytes: 66_904,
  sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  hashMatches: true,
};
