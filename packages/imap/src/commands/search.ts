import { command, SELECTED } from '#imap/command.ts';
import { parseProgram, parseReturn, runSearch, writeSearchAnswer } from '#imap/search/search-messages.ts';
import { bad, ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** SEARCH (RFC 9051 §6.4.4) with RETURN options. */
export const search = command({
  verb: 'SEARCH',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan: Scanner) {
    scan.space();
    const options = parseReturn(scan);
    return { options, program: parseProgram(scan) };
  },
  async run({ session, tag, uid }, { options, program }) {
    // RFC 6855 §3: with UTF-8 on, strings are UTF-8 and a charset is an error.
    if (session.utf8Accept && program.charset !== null) return bad('No CHARSET after ENABLE UTF8=ACCEPT');
    const indices = await runSearch(session, program, options);
    writeSearchAnswer(session, { verb: 'SEARCH', tag, uid, options, indices, modseq: program.modseq });
    return ok('SEARCH completed');
  },
});
