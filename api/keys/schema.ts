import Type from 'typebox';
import { closed, dateTime, listOf, nullable } from '#api/http/schema-parts.ts';
import { MailboxGroup } from '#api/mailboxes/schema.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import { idPattern } from '#domain/ids.ts';
import { GROUPS_PER_KEY_MAX } from '#domain/organizations/mailboxes.ts';

const KEY_NAME_MAX = 100;

const KeyId = Type.String({ pattern: idPattern('apiKey') });
const Name = Type.String({ minLength: 1, maxLength: KEY_NAME_MAX });
const Scopes = Type.Array(Type.Enum(API_SCOPES), { minItems: 1, uniqueItems: true });
const MailboxGroups = nullable(
  Type.Array(MailboxGroup, {
    minItems: 1,
    maxItems: GROUPS_PER_KEY_MAX,
    uniqueItems: true,
    description:
      'The key has access only to the mailboxes in these groups and to what belongs to one of them. Routes about the whole organization, domains, lists and webhooks refuse it. Null: every mailbox.',
  }),
);
const ExpiresAt = nullable(dateTime('In the future; null: never.'));

export const KeyParams = closed({ id: KeyId });
export const CreateKey = closed(
  { name: Name, scopes: Scopes, mailboxGroups: Type.Optional(MailboxGroups), expiresAt: Type.Optional(ExpiresAt) },
  { title: 'NewApiKey' },
);
export const UpdateKey = closed(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    mailboxGroups: Type.Optional(MailboxGroups),
    expiresAt: Type.Optional(ExpiresAt),
  },
  { title: 'ApiKeyChanges', minProperties: 1 },
);

const keyFields = {
  id: KeyId,
  name: Type.String(),
  scopes: Type.Array(Type.Enum(API_SCOPES)),
  mailboxGroups: MailboxGroups,
  keyHint: Type.String({ description: 'First characters of the key.' }),
  expiresAt: nullable(dateTime()),
  lastUsedAt: nullable(dateTime('Written at most once a minute.')),
  createdBy: nullable(Type.String({ description: 'User id; null for the key of the first start.' })),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};
export const Key = closed(keyFields, { title: 'ApiKey' });
export const KeyList = listOf(Key, 'ApiKeyList');
export const KeyWithSecret = closed(
  { ...keyFields, key: nullable(Type.String({ description: 'The key itself. Shown in this answer only.' })) },
  { title: 'ApiKeyWithSecret' },
);
