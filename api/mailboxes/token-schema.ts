import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { TOKEN_ACCESSES, TOKEN_NAME_MAX } from '#domain/organizations/mailboxes.ts';
import { MailboxId } from './schema.ts';

const TokenId = Type.String({ pattern: idPattern('mailboxToken'), description: 'Token id.' });
const Access = Type.Enum([...TOKEN_ACCESSES], {
  description:
    '`full`: everything. `read`: can only read; mail clients open folders read-only. `send`: can only send, and read the status of sent messages.',
});

export const MailboxTokenPath = closed({ id: MailboxId, tid: TokenId });

export const NewMailboxToken = closed(
  {
    name: Type.String({ minLength: 1, maxLength: TOKEN_NAME_MAX, description: 'Which program uses it.' }),
    access: Type.Optional({ ...Access, default: 'full' }),
    expiresAt: Type.Optional(nullable(dateTime('In the future; null or omitted: never.'))),
  },
  { title: 'NewMailboxToken' },
);

const tokenFields = {
  id: TokenId,
  name: Type.String(),
  access: Access,
  isFirst: Type.Boolean({
    description: 'Whether it is the first token, made with the mailbox, which `rotate-token` replaces.',
  }),
  tokenHint: nullable(Type.String({ description: 'First characters of the token; null for the first token.' })),
  expiresAt: nullable(dateTime()),
  lastUsedAt: nullable(dateTime('Last use, by any protocol; written at most once a minute.')),
  createdBy: nullable(Type.String({ description: 'Id of a user or API key; null for the first token.' })),
  createdAt: dateTime('For the first token: time of its last rotation.'),
};

export const MailboxToken = closed(tokenFields, { title: 'MailboxToken' });
export const MailboxTokenList = closed({ data: Type.Array(MailboxToken) }, { title: 'MailboxTokenList' });
export const MailboxTokenWithSecret = closed(
  { ...tokenFields, token: nullable(Type.String({ description: 'The token itself. Shown in this answer only.' })) },
  { title: 'MailboxTokenWithSecret' },
);
