import { ok, transactionCommand } from '#pop3/command.ts';

/** RFC 1939 §5. */
export const rset = transactionCommand('RSET', (maildrop) => {
  maildrop.unmarkAll();
  const { count, bytes } = maildrop.totals();
  return ok(`${count} messages (${bytes} octets)`);
});
