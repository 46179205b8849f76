import { ANY_STATE, command, ok } from '../command.ts';
import { fromUtf8 } from '../encoder.ts';
import type { Scanner } from '../parser.ts';

const FIELDS_MAX = 30;
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
      if (++count > FIELDS_MAX) scan.fail(`at most ${FIELDS_MAX} fields`);
      const name = scan.string().toLowerCase();
      scan.space();
      const value = scan.nstring();
      if (value !== null) fields.set(name, (fromUtf8(value) ?? value).slice(0, VALUE_KEPT_CHARACTERS));
    });
    return fields;
  },
  run({ session }, fields) {
    session.clientName = fields.get('name') ?? '';
    session.log.debug({ client: session.clientName, version: fields.get('version') }, 'imap client');
    session.out.line('* ID ("name" "Agent Mailbox")');
    return ok('ID completed');
  },
});
