import { bad, command, LOGGED_IN, noArguments, ok } from '../command.ts';

/** IDLE (RFC 2177): what other doors change is told at once, until DONE. */
export const idle = command({
  verb: 'IDLE',
  states: LOGGED_IN,
  args: noArguments,
  async run({ session }) {
    const { control, out } = session;
    control.continuation('idling');
    if (session.selectedOrNull !== null) session.selectedOrNull.stale = true;
    for (;;) {
      if (session.selectedOrNull?.stale === true) await session.tellChanges(true, false);
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
