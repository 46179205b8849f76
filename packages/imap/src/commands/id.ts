import { imapString } from '@agent-mailbox/mime-structure/imap-strings';
import { ANY_STATE, command } from '#imap/command.ts';
import { ID_FIELDS_MAX, ID_NAME_MAX_BYTES, ID_VALUE_MAX_BYTES } from '#imap/limits.ts';
import { ok } from '#imap/wire/completion.ts';
import { fromUtf8 } from '#imap/wire/encoder.ts';
import type { Scanner } from '#imap/wire/parser.ts';

const VALUE_KEPT_CHARACTERS = 200;

/** ID (RFC 2971). The client's name decides which capabilities are hidden from it. */
export const id = command({
  verb: 'ID',
  states: ANY_STATE,
  args(scan: Scanner) {
    scan.space();
    const fields = new Map<string, string>();
    if (scan.skip('NIL')) return fields;
    let count = 0;
    scan.list(() => {
      if (++count > ID_FIELDS_MAX) scan.fail(`at most ${ID_FIELDS_MAX} fields`);
      const name = scan.string().toLowerCase();
      if (name.length > ID_NAME_MAX_BYTES) scan.fail(`field names of at most ${ID_NAME_MAX_BYTES} octets`);
      scan.space();
      const value = scan.nstring();
      if (value !== null && value.length > ID_VALUE_MAX_BYTES)
        scan.fail(`values of at most ${ID_VALUE_MAX_BYTES} octets`);
      if (value !== null) fields.set(name, (fromUtf8(value) ?? value).slice(0, VALUE_KEPT_CHARACTERS));
    });
    return fields;
  },
  run({ session }, fields) {
    session.clientName = fields.get('name') ?? '';
    session.log.debug({ client: session.clientName, version: fields.get('version') }, 'imap client');
    const { serverName } = session;
    session.out.line(serverName === null ? '* ID NIL' : `* ID ("name" ${imapString(serverName)})`);
    return ok('ID completed');
  },
});
