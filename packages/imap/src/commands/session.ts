/**
 * Commands about the connection itself, not about mail.
 *
 *     CAPABILITY, ENABLE, ID, NAMESPACE    what server and client tell each other
 *     NOOP, CHECK, IDLE                    the client waits for changes
 *     STARTTLS, COMPRESS, LOGOUT           the byte stream changes, or ends
 */

import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { imapString } from '@agent-mailbox/mime-structure/envelope';
import { ANY_STATE, command, LOGGED_IN, plainCommand, SELECTED } from '#imap/command.ts';
import { ID_FIELDS_MAX, ID_NAME_MAX_BYTES, ID_VALUE_MAX_BYTES } from '#imap/limits.ts';
import { capabilities } from '#imap/session/capabilities.ts';
import type { Session } from '#imap/session/session.ts';
import { bad, no, ok } from '#imap/wire/completion.ts';
import { fromUtf8 } from '#imap/wire/encoder.ts';
import { DELIMITER } from '#imap/wire/values.ts';

/** CAPABILITY (RFC 9051 §6.1.1). */
const capability = plainCommand({
  verb: 'CAPABILITY',
  states: ANY_STATE,
  run({ session }) {
    session.out.line(`* CAPABILITY ${capabilities(session).join(' ')}`);
    return ok('CAPABILITY completed');
  },
});

/** @returns false: it is no extension that ENABLE turns on */
function turnOn(session: Session, extension: string): boolean {
  switch (extension) {
    case 'CONDSTORE':
      session.useCondstore();
      return true;
    case 'QRESYNC':
      session.useCondstore();
      session.qresync = true;
      return true;
    case 'IMAP4REV2':
      session.rev2 = true;
      return true;
    case 'UTF8=ACCEPT':
      session.utf8Accept = true;
      return true;
    default:
      return false;
  }
}

/** ENABLE (RFC 9051 §6.3.1), also in selected state. Unknown words are passed over. */
const enable = command({
  verb: 'ENABLE',
  states: LOGGED_IN,
  args(scan) {
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
      if (spelled !== undefined && turnOn(session, word)) enabled.add(spelled);
    }
    session.out.line(['* ENABLED', ...enabled].join(' '));
    return ok('ENABLE completed');
  },
});

const VALUE_KEPT_CHARACTERS = 200;

/** ID (RFC 2971). The client's name decides which capabilities are hidden from it. */
const id = command({
  verb: 'ID',
  states: ANY_STATE,
  args(scan) {
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
    session.options.log.debug({ client: session.clientName, version: fields.get('version') }, 'imap client');
    const { serverName } = session.options;
    session.out.line(serverName === undefined ? '* ID NIL' : `* ID ("name" ${imapString(serverName)})`);
    return ok('ID completed');
  },
});

/** NAMESPACE (RFC 9051 §6.3.10): one personal namespace, nothing shared. */
const namespace = plainCommand({
  verb: 'NAMESPACE',
  states: LOGGED_IN,
  run({ session }) {
    session.out.line(`* NAMESPACE (("" "${DELIMITER}")) NIL NIL`);
    return ok('NAMESPACE completed');
  },
});

/** NOOP (RFC 9051 §6.1.2): the client polls for changes, so the store is always read. */
const noop = plainCommand({
  verb: 'NOOP',
  states: ANY_STATE,
  run({ session }) {
    session.markStale();
    return ok('NOOP completed');
  },
});

/** CHECK (RFC 3501 §6.4.1): nothing to check here, so it is a NOOP. */
const check = plainCommand({
  verb: 'CHECK',
  states: SELECTED,
  run({ session }) {
    session.selected.stale = true;
    return ok('CHECK completed');
  },
});

/** IDLE (RFC 2177): changes by other sessions are reported at once, until DONE. */
const idle = plainCommand({
  verb: 'IDLE',
  states: LOGGED_IN,
  async run({ session }) {
    const { control, out } = session;
    control.continuation('idling');
    session.markStale();
    for (;;) {
      try {
        if (session.selectedOrNull?.stale === true) await session.reportChanges(true, false);
      } catch (error) {
        // The store is unreachable: the folder stays stale, and the next wake-up or keep-alive tries again.
        if (!(error instanceof StoreUnavailable)) throw error;
      }
      out.flush();
      const { line, ended, keepalive } = await control.lineOrWake();
      if (ended) return ok('IDLE ended');
      if (line !== undefined) {
        session.markStale();
        return line.text.toUpperCase() === 'DONE' && line.literal === null
          ? ok('IDLE completed')
          : bad('Expected DONE');
      }
      if (keepalive) out.line('* OK Still here');
    }
  },
});

/** STARTTLS (RFC 9051 §6.2.1). Plaintext input after it is discarded. */
const starttls = plainCommand({
  verb: 'STARTTLS',
  states: ['not-authenticated'],
  run({ session: { control } }) {
    if (!control.canStartTls) return bad(control.tls ? 'TLS is active already' : 'TLS is not offered here');
    control.afterAnswer(() => control.startTls());
    return ok('Begin TLS negotiation now');
  },
});

/** COMPRESS=DEFLATE (RFC 4978). */
const compress = command({
  verb: 'COMPRESS',
  states: LOGGED_IN,
  reports: 'nothing',
  args(scan) {
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

/** LOGOUT (RFC 9051 §6.1.3). */
const logout = plainCommand({
  verb: 'LOGOUT',
  states: ANY_STATE,
  reports: 'nothing',
  run({ session }) {
    session.out.line('* BYE Logging out');
    session.control.logout();
    return ok('LOGOUT completed');
  },
});

export const SESSION_COMMANDS = [capability, enable, id, namespace, noop, check, idle, starttls, compress, logout];
