import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/event-envelope.ts';
import { Organization } from './organization.ts';

/** Who did what, when, from where. Immutable. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entries',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    actor: p.json<Actor>(),
    /** `mailbox.created`, `api_key.deleted`, … */
    action: p.text(),
    targetId: p.text().nullable(),
    details: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    ipAddress: p.text().nullable(),
    requestId: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type AuditEntryRow = InferEntity<typeof AuditEntry>;
