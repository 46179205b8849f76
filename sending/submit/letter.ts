import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import type { MailboxView } from '#core/mailboxes/mailbox-view.ts';
import type { EditableMessage } from '#mime/editable-message.ts';
import type { Answered } from './own-mail.ts';

/** A message to be sent, by its parts. */
export interface Letter extends Omit<EditableMessage, 'messageId'> {
  /** The message it answers or forwards. */
  readonly answers?: Answered;
  /** People in the answered message who do not get this one. */
  readonly omitted?: readonly MailAddress[];
}

export type Author = Pick<MailboxView, 'name' | 'localPart' | 'address'>;

/** The mailbox as author. A generated local part is no name. */
export const authorOf = ({ name, localPart, address }: Author): MailAddress => ({
  name: name === localPart ? '' : name,
  address,
});
