import { createDraft, type Draft, loadRaw, type Message } from '../queries.ts';
import { base64Of } from './files.ts';

const dateOf = (message: Message): string => new Date(message.sentAt ?? message.receivedAt).toUTCString();

function quoted(message: Message): string {
  const lines = (message.text ?? '').trimEnd().split('\n');
  return `\n\nOn ${dateOf(message)}, ${message.from ?? 'somebody'} wrote:\n${lines.map((line) => `> ${line}`).join('\n')}\n`;
}

/** A draft that answers a message; the service sets its recipients and subject. */
export const beginReply = (message: Message, replyAll: boolean): Promise<Draft> =>
  createDraft(message.mailboxId, { inReplyTo: message.id, replyAll, text: quoted(message) });

/** A draft with a message in it: its text below, and the whole message attached. */
export async function beginForward(message: Message): Promise<Draft> {
  const original = await base64Of(await loadRaw(message.mailboxId, message.id));
  const text = [
    '\n\n---------- Forwarded message ----------',
    `From: ${message.from ?? ''}`,
    `Date: ${dateOf(message)}`,
    `Subject: ${message.subject}`,
    `To: ${message.to.join(', ')}`,
    '',
    message.text ?? '',
  ].join('\n');
  const subject = /^fwd?:/i.test(message.subject) ? message.subject : `Fwd: ${message.subject}`;
  return createDraft(message.mailboxId, {
    subject: subject.replace(/[\p{Cc}]/gu, ' ').slice(0, 998),
    text,
    attachments: [{ filename: 'forwarded.eml', contentType: 'message/rfc822', contentBase64: original }],
  });
}

export const beginNew = (mailboxId: string, to?: string): Promise<Draft> =>
  createDraft(mailboxId, to === undefined ? {} : { to: [to] });
