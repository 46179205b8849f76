import { command, LOGGED_IN } from '#imap/command.ts';
import { quotaLine } from '#imap/folders/status-and-quota.ts';
import { ok, Refusal } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** GETQUOTA (RFC 9208 §4.1.1). */
export const getquota = command({
  verb: 'GETQUOTA',
  states: LOGGED_IN,
  args(scan: Scanner) {
    scan.space();
    return scan.astring();
  },
  async run({ session }, root) {
    if (root !== '') throw new Refusal('NONEXISTENT', 'No such quota root');
    session.out.line(await quotaLine(session));
    return ok('GETQUOTA completed');
  },
});
