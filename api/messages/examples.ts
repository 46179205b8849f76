import { mailboxExample } from '#api/mailboxes/examples.ts';

export const summaryExample = {
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  threadId: 'thr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  from: 'Ann Example <ann@example.com>',
  to: [mailboxExample.address],
  cc: [],
  subject: 'Order 4711',
  preview: 'Please send two more of the blue ones.',
  receivedAt: '2026-11-21T09:20:00.000Z',
  sentAt: '2026-11-21T09:19:58.000Z',
  sizeBytes: 4_812,
  seen: false,
  flagged: false,
  answered: false,
  draft: false,
  labels: [],
  folders: ['INBOX'],
  attachments: [
    {
      id: '2',
      filename: 'order.pdf',
      contentType: 'application/pdf',
      sizeBytes: 2_048,
      inline: false,
      contentId: null,
      risks: [],
    },
  ],
  authentication: {
    spf: { result: 'pass', domain: 'example.com' },
    dkim: { result: 'pass', signatures: [{ result: 'pass', domain: 'example.com', selector: 's1', unsigned: [] }] },
    dmarc: { result: 'pass', domain: 'example.com', policy: 'reject' },
    arc: { result: 'none' },
  },
  untrusted: true as const,
};

export const messageExample = {
  ...summaryExample,
  deliveredTo: mailboxExample.address,
  replyTo: [],
  bcc: [],
  messageId: '<b1c2@example.com>',
  inReplyTo: null,
  references: [],
  text: 'Please send two more of the blue ones.\n\n-- \nAnn\n',
  extractedText: 'Please send two more of the blue ones.',
  textStatus: 'ok' as const,
  html: null,
  truncated: false,
  headers: [{ name: 'subject', value: 'Order 4711' }],
};

export const searchExample = {
  ...summaryExample,
  highlights: [{ text: 'Please send two more of the blue ones.', ranges: [{ start: 28, end: 32 }] }],
};
