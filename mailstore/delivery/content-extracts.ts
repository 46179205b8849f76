/** Codes and links found in the text of a message, as stored with the text. */
import type { MessageContent } from '#mime/read-content.ts';

/** `message_content.extracts`. */
export type ContentExtracts = Pick<MessageContent, 'codes' | 'links'> & {
  /** Null: the whole text, without blanks at its ends. */
  readonly reply: string | null;
};

export const extractsOf = ({ text, reply, codes, links }: MessageContent): ContentExtracts => ({
  reply: reply === text.trim() ? null : reply,
  codes,
  links,
});
