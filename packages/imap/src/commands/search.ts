/**
 * SEARCH, SORT and THREAD: their arguments and answers. How messages are found and ordered is in `search/`.
 */
import { command, SELECTED } from '#imap/command.ts';
import {
  parseCharsetAndKeys,
  parseProgram,
  parseReturn,
  runSearch,
  writeSearchAnswer,
} from '#imap/search/search-messages.ts';
import { parseCriteria, sortMessages } from '#imap/search/sort-messages.ts';
import { orderedSubject, printThreads, referencesThreads, threadables } from '#imap/search/thread-messages.ts';
import { bad, ok, Refusal } from '#imap/wire/completion.ts';

/** SEARCH (RFC 9051 §6.4.4) with RETURN options. */
const search = command({
  verb: 'SEARCH',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan) {
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

/** SORT (RFC 5256) with SORT=DISPLAY (RFC 5957) and ESORT (RFC 5267). */
const sort = command({
  verb: 'SORT',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan) {
    scan.space();
    const options = parseReturn(scan);
    const criteria = parseCriteria(scan);
    scan.space();
    return { options, criteria, program: parseCharsetAndKeys(scan) };
  },
  async run({ session, tag, uid }, { options, criteria, program }) {
    if (session.utf8Accept && program.charset !== 'UTF-8') return bad('Only UTF-8 after ENABLE UTF8=ACCEPT');
    const found = await runSearch(session, program, options);
    const indices = await sortMessages(session, found, criteria);
    writeSearchAnswer(session, { verb: 'SORT', tag, uid, options, indices, modseq: program.modseq });
    return ok('SORT completed');
  },
});

/** THREAD (RFC 5256). */
const thread = command({
  verb: 'THREAD',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan) {
    scan.space();
    const algorithm = scan.word();
    scan.space();
    return { algorithm, program: parseCharsetAndKeys(scan) };
  },
  async run({ session, uid }, { algorithm, program }) {
    if (algorithm !== 'REFERENCES' && algorithm !== 'ORDEREDSUBJECT')
      throw new Refusal('CANNOT', 'The threading algorithm is not known');
    if (session.utf8Accept && program.charset !== 'UTF-8') return bad('Only UTF-8 after ENABLE UTF8=ACCEPT');
    const indices = await runSearch(session, program, null);
    const messages = await threadables(session, indices, algorithm === 'REFERENCES');
    const threads = await (algorithm === 'REFERENCES' ? referencesThreads(messages) : orderedSubject(messages));
    const { map } = session.selected;
    const text = printThreads(threads, (each) => (uid ? each : map.indexOf(each) + 1));
    session.out.line(text === '' ? '* THREAD' : `* THREAD ${text}`);
    return ok('THREAD completed');
  },
});

export const SEARCH_COMMANDS = [search, sort, thread];
