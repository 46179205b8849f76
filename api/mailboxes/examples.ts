import { connectionSnippets, TOKEN_PLACEHOLDER } from '#client/snippets.ts';

export const mailboxExample = {
  id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Order desk',
  purpose: 'Answers questions about orders',
  group: 'orders',
  address: 'calm-otter-4821@agents.example.com',
  localPart: 'calm-otter-4821',
  domain: 'agents.example.com',
  status: 'active',
  syncStatus: 'synced',
  quota: { limitBytes: 5_368_709_120, usedBytes: 18_432, messageCount: 3 },
  sending: { state: 'ok', reason: null, stoppedBy: null },
  sendingMode: 'normal',
  budgets: { messagesPerDay: 200, newRecipientsPerDay: null },
  today: { sent: 12, newRecipients: 2, received: 31, held: 1 },
  unreadCount: 2,
  waiting: { held: 1, scheduled: 0 },
  unauthenticatedMail: 'junk',
  metadata: { team: 'orders' },
  clientId: 'order-desk-1',
  createdAt: '2026-11-21T09:15:00.000Z',
  updatedAt: '2026-11-21T09:15:00.000Z',
  lastActivityAt: null,
};

const listener = (port: number) => ({
  host: 'mail.example.com',
  port,
  security: 'tls',
  username: mailboxExample.address,
});

export const connectionExample = { imap: listener(993), pop3: listener(995), smtp: listener(465) };

export const snippetsExample = {
  data: connectionSnippets({
    apiUrl: 'https://mail.example.com',
    address: mailboxExample.address,
    token: TOKEN_PLACEHOLDER,
    imap: { ...listener(993), security: 'tls' },
    pop3: { ...listener(995), security: 'tls' },
    smtp: { ...listener(465), security: 'tls' },
  }),
};

export const mailboxWithTokenExample = {
  ...mailboxExample,
  token: 'amt_vB0o2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q',
  connection: connectionExample,
};
