import { ANY_STATE, command, noArguments } from '#imap/command.ts';
import { capabilities } from '#imap/session/capabilities.ts';
import { ok } from '#imap/wire/completion.ts';

/** CAPABILITY (RFC 9051 §6.1.1). */
export const capability = command({
  verb: 'CAPABILITY',
  states: ANY_STATE,
  args: noArguments,
  run({ session }) {
    session.out.line(`* CAPABILITY ${capabilities(session).join(' ')}`);
    return ok('CAPABILITY completed');
  },
});
