import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useChange } from '../../api/queries.ts';

export type Key = Schemas['ApiKey'];
export type NewKey = Schemas['ApiKeyWithSecret'];
export type Scope = Key['scopes'][number];

/** What a person decides about a key. */
interface KeyInput {
  name: string;
  scopes: Scope[];
  /** Null: every mailbox. */
  mailboxGroups: string[] | null;
  /** ISO 8601; null: never. */
  expiresAt: string | null;
}

const KEYS = ['keys'];

export const keysQuery = pagedQuery(KEYS, (from) => bodyOf(service.GET('/api/keys', { params: { query: from } })));

/** Names of the groups that mailboxes are in. */
export const groupsQuery = singleQuery(['mailboxes', 'groups'], () => bodyOf(service.GET('/api/mailbox-groups')));

export const useCreateKey = () => useChange((body: KeyInput) => bodyOf(service.POST('/api/keys', { body })), KEYS);

export const useUpdateKey = (id: string) =>
  useChange(
    (body: Partial<KeyInput>) => bodyOf(service.PATCH('/api/keys/{id}', { params: { path: { id } }, body })),
    KEYS,
  );

export const useRevokeKey = () =>
  useChange((id: string) => done(service.DELETE('/api/keys/{id}', { params: { path: { id } } })), KEYS);
