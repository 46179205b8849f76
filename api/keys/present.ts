import type { Static } from 'typebox';
import type { ApiKeyRow } from '#db/entities/api-key.ts';
import type { Key, KeyWithSecret } from './schema.ts';

export const presentKey = (row: ApiKeyRow): Static<typeof Key> => ({
  id: row.id,
  name: row.name,
  scopes: [...row.scopes],
  mailboxGroups: row.mailboxGroups ? [...row.mailboxGroups] : null,
  keyHint: row.keyHint,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdBy: row.createdBy ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** With the key itself: at creation only. */
export const presentNewKey = (row: ApiKeyRow, key: string): Static<typeof KeyWithSecret> => ({
  ...presentKey(row),
  key,
});
