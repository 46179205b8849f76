import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { command, LOGGED_IN, noArguments } from '#imap/command.ts';
import { bad, ok } from '#imap/wire/completion.ts';

/** IDLE (RFC 2177): changes by other sessions are reported at once, until DONE. */
export const idle = command({
  verb: 'IDLE',
  states: LOGGED_IN,
  args: noArguments,
  async run({ session }) {
    const { control, out } = session;
    control.continuation('idling');
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    for (;;) {
      try {
        if (session.selectedOrNull?.stale === true) await session.reportChanges(true, false);
      } catch (error) {
        // The store is unreachable: the folder stays stale, and the next wake-up or keep-alive tries again.
        if (!(error instanceof StoreUnavailable)) throw error;
      }
      out.flush();
      const { line, ended, keepalive } = await control.lineOrWake();
      if (ended) return ok('IDLE ended');
      if (line !== undefined) {
        if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
        return line.text.toUpperCase() === 'DONE' && line.literal === null
          ? ok('IDLE completed')
          : bad('Expected DONE');
      }
      if (keepalive) out.line('* OK Still here');
    }
  },
});
