import type { Static } from 'typebox';
import type { MailConnection } from '#core/mailboxes/client-settings.ts';
import type { MailboxView } from '#core/mailboxes/mailbox-view.ts';
import type { Mailbox, MailboxWithToken } from './schema.ts';

export const presentMailbox = (mailbox: MailboxView): Static<typeof Mailbox> => ({
  id: mailbox.id,
  name: mailbox.name,
  purpose: mailbox.purpose,
  group: mailbox.group,
  address: mailbox.address,
  localPart: mailbox.localPart,
  domain: mailbox.domain,
  status: mailbox.status,
  syncStatus: mailbox.syncStatus,
  quota: { ...mailbox.quota },
  sending: { ...mailbox.sending, stoppedBy: mailbox.stoppedBy },
  sendingMode: mailbox.brakes.mode,
  budgets: { ...mailbox.brakes.budgets },
  today: { ...mailbox.today },
  unreadCount: mailbox.unread,
  waiting: { ...mailbox.waiting },
  unauthenticatedMail: mailbox.unauthenticatedMail,
  metadata: { ...mailbox.metadata },
  clientId: mailbox.clientId,
  createdAt: mailbox.createdAt.toISOString(),
  updatedAt: mailbox.updatedAt.toISOString(),
  lastActivityAt: mailbox.lastActivityAt?.toISOString() ?? null,
});

/** With its token: at creation and rotation only. */
export const presentMailboxWithToken = (
  mailbox: MailboxView,
  token: string | null,
  connection: MailConnection,
): Static<typeof MailboxWithToken> => ({ ...presentMailbox(mailbox), token, connection });
