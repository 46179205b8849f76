import { ok, transactionCommand } from '#pop3/command.ts';

/** RFC 1939 §5. */
export const stat = transactionCommand('STAT', (maildrop) => {
  const { count, bytes } = maildrop.totals();
  return ok(`${count} ${bytes}`);
});
