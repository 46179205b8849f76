import { command, SELECTED } from '#imap/command.ts';
import { parseKeys, parseReturn, runSearch, writeSearchAnswer } from '#imap/search/search-messages.ts';
import { parseCriteria, sortMessages } from '#imap/search/sort-messages.ts';
import { bad, ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** SORT (RFC 5256) with SORT=DISPLAY (RFC 5957) and ESORT (RFC 5267). */
export const sort = command({
  verb: 'SORT',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan: Scanner) {
    scan.space();
    const options = parseReturn(scan);
    const criteria = parseCriteria(scan);
    scan.space();
    const charset = scan.astring().toUpperCase();
    scan.space();
    return { options, criteria, program: parseKeys(scan, charset) };
  },
  async run({ session, tag, uid }, { options, criteria, program }) {
    if (session.utf8Accept && program.charset !== 'UTF-8') return bad('Only UTF-8 after ENABLE UTF8=ACCEPT');
    const found = await runSearch(session, program, options);
    const indices = await sortMessages(session, found, criteria);
    writeSearchAnswer(session, { verb: 'SORT', tag, uid, options, indices, modseq: program.modseq });
    return ok('SORT completed');
  },
});
