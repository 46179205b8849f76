import { command } from '../command.ts';
import { logIn, refuseInClear } from '../log-in.ts';
import type { Scanner } from '../parser.ts';

/** LOGIN (RFC 9051 §6.2.3): address and mailbox token. */
export const login = command({
  verb: 'LOGIN',
  states: ['not-authenticated'],
  args(scan: Scanner) {
    scan.space();
    const address = scan.astring();
    scan.space();
    return { address, token: scan.astring() };
  },
  run({ session }, { address, token }) {
    return refuseInClear(session) ?? logIn(session, address, token);
  },
});
