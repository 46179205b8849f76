import { createDraft, type Draft, type DraftChanges, loadAttachment, loadRaw, type Message } from '../queries.ts';

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

/** A file of a draft. */
export interface DraftFile {
  readonly key: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Undefined: it is in the stored draft. */
  readonly contentBase64?: string;
}

/** Base64 and the text must fit into a message of 30 MiB. */
export const FILES_MAX_BYTES = 20 * 1_024 * 1_024;
const CONTENT_TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/;

export const filesOf = (draft: Draft): DraftFile[] =>
  draft.attachments.map(({ id, filename, contentType, sizeBytes }) => ({
    key: id,
    filename: filename ?? `attachment-${id}`,
    contentType,
    sizeBytes,
  }));

export async function fileOf(file: File): Promise<DraftFile> {
  return {
    key: crypto.randomUUID(),
    filename: file.name,
    contentType: CONTENT_TYPE.test(file.type) ? file.type : 'application/octet-stream',
    sizeBytes: file.size,
    contentBase64: await base64Of(file),
  };
}

function base64Of(bytes: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'));
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result.replace(/^[^,]*,/, '') : '');
    reader.readAsDataURL(bytes);
  });
}

/** The files with their content: what the draft holds already is read from it, because a save replaces all of them. */
export async function withContent(draft: Draft, files: readonly DraftFile[]): Promise<DraftFile[]> {
  const loaded: DraftFile[] = [];
  for (const file of files)
    loaded.push(
      file.contentBase64 !== undefined
        ? file
        : { ...file, contentBase64: await base64Of(await loadAttachment(draft.mailboxId, draft.messageId, file.key)) },
    );
  return loaded;
}

export const attachmentsOf = (files: readonly DraftFile[]): NonNullable<DraftChanges['attachments']> =>
  files.map(({ filename, contentType, contentBase64 = '' }) => ({ filename, contentType, contentBase64 }));
