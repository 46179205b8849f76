import { bad, command, noArguments, ok } from '../command.ts';

/** STARTTLS (RFC 9051 §6.2.1). What the client sent behind it in clear is forgotten. */
export const starttls = command({
  verb: 'STARTTLS',
  states: ['not-authenticated'],
  args: noArguments,
  run({ session: { control } }) {
    if (!control.canStartTls) return bad(control.tls ? 'TLS is on already' : 'TLS is not offered here');
    control.afterAnswer(() => control.startTls());
    return ok('Begin TLS negotiation now');
  },
});
