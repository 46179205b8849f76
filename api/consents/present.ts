import type { Static } from 'typebox';
import { presentChanges } from '#api/messages/present-decision.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import type { ConsentRow } from '#sending/consent/consent-record.ts';
import type { Consent } from './schema.ts';

export const presentConsent = (row: ConsentRow): Static<typeof Consent> => ({
  id: row.id,
  mailboxId: row.mailboxId,
  messageId: row.messageId,
  status: row.status,
  recipients: [...row.recipients],
  heldBecause: row.heldBecause,
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
          changes: presentChanges(row.changes),
        },
});
