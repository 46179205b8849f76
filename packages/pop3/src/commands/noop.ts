import { ok, transactionCommand } from '#pop3/command.ts';

/** RFC 1939 §5. */
export const noop = transactionCommand('NOOP', () => ok('Still here'));
