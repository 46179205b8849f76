import Type from 'typebox';
import { API_SCOPES } from '../../domain/api-scopes.ts';
import { idPattern } from '../../domain/ids.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const KEY_NAME_MAX = 100;

const KeyId = Type.String({ pattern: idPattern('apiKey') });
const Name = Type.String({ minLength: 1, maxLength: KEY_NAME_MAX });
const Scopes = Type.Array(Type.Enum(API_SCOPES), { minItems: 1, uniqueItems: true });
const ExpiresAt = nullable(dateTime('In the future; null: never.'));

export const KeyParams = closed({ id: KeyId });
export const CreateKey = closed({ name: Name, scopes: Scopes, expiresAt: Type.Optional(ExpiresAt) });
export const UpdateKey = closed(
  { name: Type.Optional(Name), scopes: Type.Optional(Scopes), expiresAt: Type.Optional(ExpiresAt) },
  { minProperties: 1 },
);

const keyFields = {
  id: KeyId,
  name: Type.String(),
  scopes: Type.Array(Type.Enum(API_SCOPES)),
  keyHint: Type.String({ description: 'First characters of the key.' }),
  expiresAt: nullable(dateTime()),
  lastUsedAt: nullable(dateTime('Written at most once a minute.')),
  createdBy: nullable(Type.String({ description: 'User id; null for the key of the first start.' })),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};
export const Key = closed(keyFields, { title: 'ApiKey' });
export const KeyList = listOf(Key);
export const KeyWithSecret = closed(
  { ...keyFields, key: nullable(Type.String({ description: 'The key itself. Shown in this answer only.' })) },
  { title: 'ApiKeyWithSecret' },
);
