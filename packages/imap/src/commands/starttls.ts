import { command, noArguments } from '#imap/command.ts';
import { bad, ok } from '#imap/wire/completion.ts';

/** STARTTLS (RFC 9051 §6.2.1). Plaintext input after it is discarded. */
export const starttls = command({
  verb: 'STARTTLS',
  states: ['not-authenticated'],
  args: noArguments,
  run({ session: { control } }) {
    if (!control.canStartTls) return bad(control.tls ? 'TLS is active already' : 'TLS is not offered here');
    control.afterAnswer(() => control.startTls());
    return ok('Begin TLS negotiation now');
  },
});
