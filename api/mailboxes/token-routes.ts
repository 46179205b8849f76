/** The tokens of a mailbox, for people and API keys: a mailbox token cannot make other tokens. */
import { type Route, route } from '#api/http/route.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { createMailboxToken, listMailboxTokens, revokeMailboxToken } from '#core/mailboxes/mailbox-tokens.ts';
import { TOKENS_PER_MAILBOX_MAX } from '#domain/organizations/mailboxes.ts';
import { presentMailboxToken, presentNewMailboxToken } from './present-token.ts';
import { MailboxParams } from './schema.ts';
import { MailboxTokenList, MailboxTokenPath, MailboxTokenWithSecret, NewMailboxToken } from './token-schema.ts';

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
