import { command, LOGGED_IN } from '#imap/command.ts';
import { capabilities } from '#imap/session/capabilities.ts';
import type { Session } from '#imap/session/session.ts';
import { ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

const ENABLERS = new Map<string, (session: Session) => void>([
  ['CONDSTORE', (session) => session.useCondstore()],
  [
    'QRESYNC',
    (session) => {
      session.useCondstore();
      session.qresync = true;
    },
  ],
  [
    'IMAP4REV2',
    (session) => {
      session.rev2 = true;
    },
  ],
  [
    'UTF8=ACCEPT',
    (session) => {
      session.utf8Accept = true;
    },
  ],
]);

/** ENABLE (RFC 9051 §6.3.1), also in selected state. Unknown words are passed over. */
export const enable = command({
  verb: 'ENABLE',
  states: LOGGED_IN,
  args(scan: Scanner) {
    const words: string[] = [];
    while (scan.skip(' ')) words.push(scan.word());
    if (words.length === 0) scan.fail('a capability');
    return words;
  },
  run({ session }, words) {
    const offered = new Map(capabilities(session).map((word) => [word.toUpperCase(), word]));
    const enabled = new Set<string>();
    for (const word of words) {
      const spelled = offered.get(word);
      if (spelled === undefined || !ENABLERS.has(word)) continue;
      ENABLERS.get(word)?.(session);
      enabled.add(spelled);
    }
    session.out.line(['* ENABLED', ...enabled].join(' '));
    return ok('ENABLE completed');
  },
});
