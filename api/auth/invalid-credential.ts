import { CatalogueError } from '#domain/errors.ts';

export const unauthenticated = (message?: string, fix?: string): CatalogueError =>
  new CatalogueError('unauthenticated', message, fix === undefined ? {} : { fix });

/** One text for unknown, revoked and expired. */
export const invalidCredential = (kind: keyof typeof NEW_CREDENTIAL): CatalogueError =>
  unauthenticated(`The ${kind} is not valid: it is unknown, revoked or expired.`, NEW_CREDENTIAL[kind]);

const NEW_CREDENTIAL = {
  'API key': 'Check that the whole key was copied; if it was, have an admin create another one.',
  session: 'Sign in again: POST /api/sessions.',
  'mailbox token':
    'Check that the whole token was copied; if it was, make another one: POST /api/mailboxes/:id/tokens.',
  'operator key': 'Send the OPERATOR_KEY this instance was started with.',
} as const;
