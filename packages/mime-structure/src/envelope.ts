/**
 * ENVELOPE (RFC 9051 §7.5.2) as it goes over the wire: raw header text, encoded words untouched. Sender and Reply-To
 * copy From where they are missing or empty.
 */
import { parseAddresses, type RawAddress } from './addresses.ts';
import { destinations, firstValue, type HeaderField } from './header-fields.ts';
import { imapNString, imapString } from './imap-strings.ts';

/** One character per byte, so that it can stand inside a larger wire text (message/rfc822 in BODYSTRUCTURE). */
export function envelopeText(fields: readonly HeaderField[]): string {
  const list = (name: string) => addressList(firstValue(fields, name));
  const from = list('from');
  const sender = list('sender');
  const replyTo = list('reply-to');
  return `(${[
    imapNString(firstValue(fields, 'date')),
    imapNString(firstValue(fields, 'subject')),
    from,
    sender === 'NIL' ? from : sender,
    replyTo === 'NIL' ? from : replyTo,
    addressList(destinations(fields, 'to')),
    addressList(destinations(fields, 'cc')),
    addressList(destinations(fields, 'bcc')),
    imapNString(firstValue(fields, 'in-reply-to')),
    imapNString(firstValue(fields, 'message-id')),
  ].join(' ')})`;
}

function addressList(value: string | undefined): string {
  const list = value === undefined ? [] : parseAddresses(value);
  return list.length === 0 ? 'NIL' : `(${list.map(addressText).join('')})`;
}

/** A group starts with a NIL host and its name in the place of the mailbox, and ends with all four NIL. */
function addressText(entry: RawAddress): string {
  switch (entry.kind) {
    case 'group-start':
      return `(NIL NIL ${imapString(entry.name)} NIL)`;
    case 'group-end':
      return '(NIL NIL NIL NIL)';
    case 'address':
      return `(${imapNString(entry.name)} ${imapNString(entry.route)} ${imapString(entry.local)} ${imapString(entry.host)})`;
  }
}
