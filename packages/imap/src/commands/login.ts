import { command } from '#imap/command.ts';
import { logIn, refuseInClear } from '#imap/session/log-in.ts';
import { fromUtf8 } from '#imap/wire/encoder.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** LOGIN (RFC 9051 §6.2.3): address and mailbox token. */
export const login = command({
  verb: 'LOGIN',
  states: ['not-authenticated'],
  args(scan: Scanner) {
    scan.space();
    const text = (): string => {
      const bytes = scan.astring();
      return fromUtf8(bytes) ?? bytes;
    };
    const address = text();
    scan.space();
    return { address, token: text() };
  },
  run({ session }, { address, token }) {
    return refuseInClear(session) ?? logIn(session, address, token);
  },
});
