import { command, SELECTED } from '#imap/command.ts';
import { parseKeys, runSearch } from '#imap/search/search-messages.ts';
import { orderedSubject, printThreads, referencesThreads, threadables } from '#imap/search/thread-messages.ts';
import { bad, ok, Refusal } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** THREAD (RFC 5256). */
export const thread = command({
  verb: 'THREAD',
  states: SELECTED,
  uid: true,
  reports: 'no-expunge',
  args(scan: Scanner) {
    scan.space();
    const algorithm = scan.word();
    scan.space();
    const charset = scan.astring().toUpperCase();
    scan.space();
    return { algorithm, program: parseKeys(scan, charset) };
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
