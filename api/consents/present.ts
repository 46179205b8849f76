import type { Static } from 'typebox';
import type { ConsentRow } from '../../core/consent-queries.ts';
import { SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import type { Consent } from './schema.ts';

export const presentConsent = (row: ConsentRow): Static<typeof Consent> => ({
  id: row.id,
  mailboxId: row.mailboxId,
  messageId: row.messageId,
  status: row.status,
  recipients: [...row.recipients],
  subject: row.subject,
  preview: row.preview,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  decision:
    row.decidedAt === null
      ? null
      : {
          scope: row.scope,
          reason: row.reason,
          decidedAt: row.decidedAt.toISOString(),
          decidedBy: { ...(row.decidedBy ?? SYSTEM_ACTOR) },
        },
});
