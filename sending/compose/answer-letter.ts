/** Replies and forwards: the parts that come from the message they refer to. */

import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { HeaderField } from '@agent-mailbox/mime-structure/header-fields';
import type { Database } from '#db/database.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import { readContent } from '#mailstore/messages/message-content.ts';
import type { StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import { answerRecipients, answerReferences, prefixedSubject } from './answer-message.ts';
import type { Letter } from './letter.ts';

/** The message that is answered or forwarded. */
export interface Original {
  readonly message: StoredMessageContent;
  readonly fields: readonly HeaderField[];
}

/** What the writer gives. */
export interface OwnParts extends Omit<Letter, 'subject' | 'inReplyTo' | 'references' | 'answers' | 'omitted'> {
  /** Undefined: that of the original, with its prefix. */
  readonly subject: string | undefined;
}

/**
 * To the author of the original and the recipients that the writer adds.
 *
 * @param own address of the replying mailbox
 * @param all also to everybody in To and Cc
 */
export function replyLetter({ message, fields }: Original, own: string, all: boolean, given: OwnParts): Letter {
  const answer = answerRecipients(fields, own, all);
  const added = new Set([...given.to, ...given.cc, ...given.bcc].map(({ address }) => address.toLowerCase()));
  const isNotAdded = ({ address }: { readonly address: string }) => !added.has(address.toLowerCase());
  return {
    ...given,
    to: [...answer.to, ...given.to],
    cc: [...answer.cc.filter(isNotAdded), ...given.cc],
    omitted: answer.omitted.filter(isNotAdded),
    subject: given.subject ?? prefixedSubject('Re', message.subject),
    ...answerReferences(fields),
    answers: { messageId: message.id, as: 'answered' },
  };
}

/** The text of the original below the writer's own, and the whole original attached, byte for byte. */
export async function forwardLetter(db: Database, { message, fields }: Original, given: OwnParts): Promise<Letter> {
  const original = await readBlob(db, message.blob, 0, message.size);
  const { text } = await readContent(db, message);
  const quoted =
    `---------- Forwarded message ----------\nFrom: ${message.from.map(formatAddress).join(', ')}\n` +
    `Date: ${(message.sentAt ?? message.receivedAt).toUTCString()}\nSubject: ${message.subject}\n` +
    `To: ${message.to.map(formatAddress).join(', ')}\n\n${text}`;
  return {
    ...given,
    subject: given.subject ?? prefixedSubject('Fwd', message.subject),
    text: given.text === undefined ? quoted : `${given.text}\n\n${quoted}`,
    attachments: [
      ...given.attachments,
      { filename: 'forwarded.eml', contentType: 'message/rfc822', content: original, contentId: undefined },
    ],
    inReplyTo: undefined,
    references: answerReferences(fields).references,
    answers: { messageId: message.id, as: 'forwarded' },
  };
}
