/** Message-IDs in header values (RFC 5322 §3.6.4). */
import { decodeRawHeader, storableText } from './charset.ts';

/** The ids of a value in their order, with brackets, as text. What is too long for a line, or is not one word, is none. */
export const messageIds = (value: string | undefined): string[] =>
  (value?.match(/<[^<>\s]{1,998}>/g) ?? []).map((id) => storableText(decodeRawHeader(id)));
