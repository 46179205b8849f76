/** Groups at the beginning of address lists, read out of an ENVELOPE as it is stored. */
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { fieldsOf, OPEN, stringAt } from '@agent-mailbox/mime-structure/envelope';

/** How a group ends in an ENVELOPE. One without these bytes has no group. */
export const GROUP_END = '(NIL NIL NIL NIL)';

/** Where the lists stand there (RFC 9051 §7.5.2). */
const FROM_PLACE = 2;
const TO_PLACE = 5;
const CC_PLACE = 6;

/** Decoded names of the groups that the lists begin with; undefined for a list that begins with an address. */
interface LeadingGroups {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly cc: string | undefined;
}

export function leadingGroups(envelope: Uint8Array): LeadingGroups {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
  const { fields } = fieldsOf(bytes, 0);
  const groupOf = (place: number): string | undefined => {
    const start = fields[place]?.[0];
    const first = start !== undefined && bytes[start] === OPEN ? fieldsOf(bytes, start).fields[0] : undefined;
    if (first === undefined) return undefined;
    const [, , mailbox, host] = fieldsOf(bytes, first[0]).fields;
    // A group stands there as an address without host, its name in the place of the mailbox.
    if (mailbox === undefined || host === undefined || stringAt(bytes, host) !== undefined) return undefined;
    const name = stringAt(bytes, mailbox);
    return name === undefined ? undefined : decodeWords(name);
  };
  return { from: groupOf(FROM_PLACE), to: groupOf(TO_PLACE), cc: groupOf(CC_PLACE) };
}
