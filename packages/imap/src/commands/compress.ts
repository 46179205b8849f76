import { command, LOGGED_IN } from '#imap/command.ts';
import { no, ok } from '#imap/wire/completion.ts';
import type { Scanner } from '#imap/wire/parser.ts';

/** COMPRESS=DEFLATE (RFC 4978). */
export const compress = command({
  verb: 'COMPRESS',
  states: LOGGED_IN,
  reports: 'nothing',
  args(scan: Scanner) {
    scan.space();
    return scan.word();
  },
  run({ session: { control } }, mechanism) {
    if (control.compressed) return no('DEFLATE is active already', 'COMPRESSIONACTIVE');
    if (mechanism !== 'DEFLATE') return no('Only DEFLATE is known');
    control.afterAnswer(() => control.compress());
    return ok('DEFLATE active');
  },
});
