/** Tokens of a mailbox: several, each with a name, an access and an expiry. */

/** `read` changes and sends nothing; `send` reads nothing. */
export const TOKEN_ACCESSES = ['full', 'read', 'send'] as const;
export type TokenAccess = (typeof TOKEN_ACCESSES)[number];

/** What a request with a mailbox token needs; `any`: every token may. */
export type TokenNeed = 'any' | 'read' | 'send' | 'change';

const ALLOWED: Readonly<Record<TokenAccess, readonly TokenNeed[]>> = {
  full: ['any', 'read', 'send', 'change'],
  read: ['any', 'read'],
  send: ['any', 'send'],
};

export const tokenAllows = (access: TokenAccess, need: TokenNeed): boolean => ALLOWED[access].includes(need);

/** Tokens of one mailbox that are not revoked, expired ones included. */
export const TOKENS_PER_MAILBOX_MAX = 20;
export const TOKEN_NAME_MAX = 100;
