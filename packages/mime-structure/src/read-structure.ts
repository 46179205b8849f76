/**
 * What is found in a message without looking into its texts: header, tree of parts, ENVELOPE, BODYSTRUCTURE. Pure.
 */
import { type MailAddress, readableAddresses } from './addresses.ts';
import { decodeRawHeader, storableText } from './charset.ts';
import { decodeWords } from './encoded-words.ts';
import { bodyStructureText, envelopeText } from './envelope.ts';
import { destinations, firstValue, type HeaderField, headerFields } from './header-fields.ts';
import { indexMessage, type PartNode } from './index-message.ts';
import { parseMailDate } from './parse-date.ts';
import { type AttachmentInfo, attachmentsOf } from './parts.ts';

export interface MessageStructure {
  readonly parts: PartNode;
  /** Wire-ready, as bytes. */
  readonly envelope: Buffer;
  readonly bodyStructure: Buffer;
  readonly from: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly subject: string;
  readonly attachments: readonly AttachmentInfo[];
  /** Time of the Date header. */
  readonly sentAt: Date | undefined;
  /** Its zone, minutes east of UTC. */
  readonly sentOffsetMinutes: number;
  /** Message-ID with its brackets, or undefined. */
  readonly messageId: string | undefined;
  /** Message-IDs this one answers, nearest first: In-Reply-To, then References from the last. */
  readonly references: readonly string[];
}

export const REFERENCES_MAX = 20;
export const SUBJECT_MAX_CHARACTERS = 2_000;
export const ADDRESSES_SHOWN_MAX = 1_000;

/** @param parts the tree of these bytes, where it is known already */
export function readStructure(bytes: Uint8Array, parts: PartNode = indexMessage(bytes)): MessageStructure {
  return structureOf(bytes, parts, headerFields(bytes, parts.header, parts.body));
}

/** @param fields those of the message itself */
export function structureOf(bytes: Uint8Array, parts: PartNode, fields: readonly HeaderField[]): MessageStructure {
  const date = parseMailDate(firstValue(fields, 'date') ?? '');
  const addresses = (list: string | undefined) =>
    readableAddresses(list ?? '')
      .slice(0, ADDRESSES_SHOWN_MAX)
      .map((each) => ({ name: storableText(each.name), address: storableText(each.address) }));
  return {
    parts,
    envelope: Buffer.from(envelopeText(fields), 'latin1'),
    bodyStructure: Buffer.from(bodyStructureText(bytes, parts), 'latin1'),
    from: addresses(firstValue(fields, 'from')),
    to: addresses(destinations(fields, 'to')),
    cc: addresses(destinations(fields, 'cc')),
    subject: storableText(decodeWords(firstValue(fields, 'subject') ?? ''))
      .slice(0, SUBJECT_MAX_CHARACTERS)
      .toWellFormed(),
    attachments: attachmentsOf(bytes, parts),
    sentAt: date?.time,
    sentOffsetMinutes: date?.offsetMinutes ?? 0,
    messageId: messageIds(firstValue(fields, 'message-id'))[0],
    references: [
      ...new Set([
        ...messageIds(firstValue(fields, 'in-reply-to')),
        ...messageIds(firstValue(fields, 'references')).reverse(),
      ]),
    ].slice(0, REFERENCES_MAX),
  };
}

/** Message-IDs (RFC 5322 §3.6.4) of a header value in their order, with brackets, as text. What is too long for a line, or is not one word, is none. */
export const messageIds = (value: string | undefined): string[] =>
  (value?.match(/<[^<>\s]{1,998}>/g) ?? []).map((id) => storableText(decodeRawHeader(id)));
