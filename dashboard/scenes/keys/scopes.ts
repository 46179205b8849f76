import type { Scope } from './queries.ts';

/** Every scope of an API key with what it allows. */
export const SCOPES: readonly (readonly [Scope, string])[] = [
  ['mailbox:create', 'Create mailboxes and see their tokens'],
  ['mailbox:read', 'Read mailboxes and their mail'],
  ['mailbox:write', 'Change mailboxes, rotate tokens, send and change mail'],
  ['mailbox:delete', 'Delete mailboxes with their mail'],
  ['org:read', 'Read the organization, members, usage and the audit log'],
  ['webhook:create', 'Create webhook endpoints'],
  ['webhook:read', 'Read webhook endpoints and deliveries'],
  ['webhook:manage', 'Change, rotate, recover and delete webhook endpoints'],
];

/** Choices that fit most keys. */
export const PRESETS: readonly { readonly title: string; readonly scopes: readonly Scope[] }[] = [
  { title: 'Read only', scopes: ['mailbox:read', 'org:read', 'webhook:read'] },
  { title: 'An agent’s server', scopes: ['mailbox:create', 'mailbox:read', 'mailbox:write'] },
  { title: 'Everything', scopes: SCOPES.map(([scope]) => scope) },
];
