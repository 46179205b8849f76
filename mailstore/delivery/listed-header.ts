/** What a placement keeps of the header of its message, so that lists, SEARCH and SORT need no message. */
import { type HeaderIndex, headerIndex } from '@agent-mailbox/mail-store/header-index';
import { envelopeSearchText } from '@agent-mailbox/mail-store/search-text';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';

export interface ListedHeader extends HeaderIndex {
  /** `SearchText.envelope`; null if it is long: then it is searched in `message_text`, or in the bytes. */
  readonly envelopeText: string | null;
}

/** Rows stay small: four of them in a page of the table. */
const ENVELOPE_TEXT_MAX_BYTES = 1_536;
/** Of a longer header no envelope text is made: it would rarely be short enough. */
const HEADER_MAX_BYTES = 65_536;

/**
 * Takes time in proportion to the header.
 *
 * @param bytes the message, or its beginning with the whole header
 */
export function listedHeader(bytes: Uint8Array, root: PartNode): ListedHeader {
  const fields = headerFields(bytes, root.header, root.body);
  const text = root.body - root.header > HEADER_MAX_BYTES ? '' : envelopeSearchText(fields);
  const fits = text !== '' && Buffer.byteLength(text) <= ENVELOPE_TEXT_MAX_BYTES;
  return { ...headerIndex(bytes, root, fields), envelopeText: fits ? text : null };
}
