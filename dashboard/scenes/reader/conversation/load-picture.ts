import { PICTURES } from '../../../components/mail/pictures.ts';
import { type Attachment, loadAttachment, type Message } from '../queries.ts';

/** A part of a message as a picture; undefined when it is none that is shown. */
export async function loadPicture(message: Message, attachment: Attachment): Promise<Blob | undefined> {
  const type = attachment.contentType.toLowerCase();
  if (!PICTURES.has(type)) return undefined;
  const bytes = await loadAttachment(message.mailboxId, message.id, attachment.id);
  return new Blob([bytes], { type });
}
