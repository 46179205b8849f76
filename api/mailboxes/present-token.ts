import type { Static } from 'typebox';
import type { MailboxToken as Token } from '#core/mailboxes/mailbox-tokens.ts';
import type { MailboxToken, MailboxTokenWithSecret } from './token-schema.ts';

export const presentMailboxToken = (row: Token): Static<typeof MailboxToken> => ({
  id: row.id,
  name: row.name,
  access: row.access,
  isFirst: row.isFirst,
  tokenHint: row.hint,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdBy: row.createdBy,
  createdAt: row.createdAt.toISOString(),
});

/** With the token itself: at creation only. */
export const presentNewMailboxToken = (row: Token, token: string): Static<typeof MailboxTokenWithSecret> => ({
  ...presentMailboxToken(row),
  token,
});
