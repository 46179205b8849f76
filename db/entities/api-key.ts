import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ApiScope } from '#domain/access/api-scopes.ts';
import { Organization } from './organization.ts';

/** An organization API key. Only its hash is stored; a deleted row is a revoked key. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    name: p.text(),
    keyHash: p.blob().unique(),
    /** First characters of the key, to distinguish keys in a list. */
    keyHint: p.text(),
    scopes: p.array<ApiScope>(),
    /** Null: every mailbox. */
    mailboxGroups: p.array<string>().nullable(),
    expiresAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
    /** User id, or null for the key of the first start. */
    createdBy: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type ApiKeyRow = InferEntity<typeof ApiKey>;
