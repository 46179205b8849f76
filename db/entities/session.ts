import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { User } from './user.ts';

/** A signed-in person's bearer session. Only the hash of its token is stored. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.text().primary(),
    user: () => p.manyToOne(User).ref(),
    tokenHash: p.blob().unique(),
    /** Where and with what the person signed in. */
    ipAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    lastUsedAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});
export type SessionRow = InferEntity<typeof Session>;
