/** The tokens of a mailbox, for people and API keys: a mailbox token cannot make other tokens. */

import Type, { type Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import {
  createMailboxToken,
  listMailboxTokens,
  revokeMailboxToken,
  type MailboxToken as Token,
} from '#core/mailboxes/mailbox-tokens.ts';
import { idPattern } from '#domain/ids.ts';
import { TOKEN_ACCESSES, TOKEN_NAME_MAX, TOKENS_PER_MAILBOX_MAX } from '#domain/organizations/mailboxes.ts';
import { MailboxId, MailboxParams } from './schema.ts';

const TokenId = Type.String({ pattern: idPattern('mailboxToken'), description: 'Token id.' });
const Access = Type.Enum([...TOKEN_ACCESSES], {
  description:
    '`full`: everything. `read`: can only read; mail clients open folders read-only. `send`: can only send, and read the status of sent messages.',
});

const MailboxTokenPath = closed({ id: MailboxId, tid: TokenId });

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

const presentMailboxToken = (row: Token): Static<typeof MailboxToken> => ({
  id: row.id,
  name: row.name,
  access: row.access,
  isFirst: row.isFirst,
  tokenHint: row.hint,
  expiresAt: timeOf(row.expiresAt),
  lastUsedAt: timeOf(row.lastUsedAt),
  createdBy: row.createdBy,
  createdAt: row.createdAt.toISOString(),
});

/** With the token itself: at creation only. */
const presentNewMailboxToken = (row: Token, token: string): Static<typeof MailboxTokenWithSecret> => ({
  ...presentMailboxToken(row),
  token,
});

const tag = 'Mailboxes';

const example = {
  id: 'tok_01k8e8f2c0e4x9w2v7a3r5t6y8',
  name: 'Monitoring',
  access: 'read',
  isFirst: false,
  tokenHint: 'amt_kR2w',
  expiresAt: '2027-11-21T00:00:00.000Z',
  lastUsedAt: null,
  createdBy: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
  createdAt: '2026-11-21T09:15:00.000Z',
};

export const mailboxTokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/tokens',
    operationId: 'listMailboxTokens',
    tag,
    summary: 'List the tokens of a mailbox, newest first',
    auth: { scope: 'mailbox:read' },
    params: MailboxParams,
    responses: {
      200: {
        description: 'All tokens; the first one is last.',
        schema: MailboxTokenList,
        example: { data: [example] },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      await getMailbox(services.db, organization.id, params.id);
      const rows = await listMailboxTokens(services.db, organization.id, params.id);
      return { status: 200, body: { data: rows.map(presentMailboxToken) } };
    },
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/tokens',
    operationId: 'createMailboxToken',
    tag,
    summary: 'Create a token of a mailbox',
    description: `Each program can have its own token, with its own access and expiry. REST, MCP, the command line, IMAP, POP3 and SMTP accept it. The token is shown in this answer only. A mailbox has at most ${TOKENS_PER_MAILBOX_MAX} tokens.`,
    auth: { scope: 'mailbox:write' },
    params: MailboxParams,
    body: NewMailboxToken,
    bodyExample: { name: 'Monitoring', access: 'read', expiresAt: '2099-01-01T00:00:00.000Z' },
    secretFields: ['token'],
    responses: {
      201: {
        description: 'The new token.',
        schema: MailboxTokenWithSecret,
        example: { ...example, token: 'amt_kR2wo2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q' },
      },
    },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, caller, params, body }) {
      const { name, access = 'full', expiresAt } = body;
      const { row, token } = await createMailboxToken(services, organization.id, params.id, caller, {
        name,
        access,
        expiresAt: expiresAt === undefined || expiresAt === null ? null : new Date(expiresAt),
      });
      return { status: 201, body: presentNewMailboxToken(row, token) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/mailboxes/:id/tokens/:tid',
    operationId: 'revokeMailboxToken',
    tag,
    summary: 'Revoke a token of a mailbox',
    description:
      'The token becomes invalid at once, and connections that use it are closed. If the first token was revoked, `rotate-token` makes a new one.',
    auth: { scope: 'mailbox:write' },
    params: MailboxTokenPath,
    responses: { 204: { description: 'Revoked; no protocol accepts it any more.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await revokeMailboxToken(services, organization.id, params.id, params.tid, caller);
      return { status: 204 };
    },
  }),
];
