/** A submitted message with changed text or recipients. Unchanged parts stay byte for byte, as far as possible. */

import type { MailAddress } from '@agent-mailbox/mime-structure/addresses';
import { findBodyStart, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { CatalogueError } from '#domain/errors.ts';
import { editableMessage } from '#mime/editable-message.ts';
import { composeMessage, isOwnField } from './compose-message.ts';

/** Omitted fields do not change; null removes the part from the message. */
export interface ContentEdit {
  readonly subject?: string | undefined;
  readonly text?: string | null | undefined;
  readonly html?: string | null | undefined;
  readonly to?: readonly MailAddress[] | undefined;
  readonly cc?: readonly MailAddress[] | undefined;
}

export interface EditedContent {
  /** Not yet prepared for sending. */
  readonly bytes: Buffer;
  readonly before: { readonly subject: string; readonly text: string | null; readonly html: string | null };
}

/** Signatures over the original message. */
const SIGNATURES = new Set(['dkim-signature', 'arc-seal', 'arc-message-signature', 'arc-authentication-results']);
const MIME_FIELD = /^(?:mime-version|content-.*)$/;

/**
 * Other header fields, including threading, do not change; nor does the body if neither text nor HTML is changed.
 * Otherwise the body is composed again, with all attachments.
 *
 * @param author address for the composition; the message keeps its own From
 * @throws {CatalogueError} invalid_request: text without the corresponding HTML, or the reverse; the body is signed or
 * encrypted
 */
export async function editContent(bytes: Buffer, edit: ContentEdit, author: string): Promise<EditedContent> {
  const given = editableMessage(bytes, isOwnField);
  const before = { subject: given.subject, text: given.text ?? null, html: given.html ?? null };
  const editsBody = edit.text !== undefined || edit.html !== undefined;
  if (editsBody) requireEditableBody(bytes, edit, before);
  const body = {
    text: (edit.text === undefined ? before.text : edit.text) ?? undefined,
    html: (edit.html === undefined ? before.html : edit.html) ?? undefined,
  };
  const composed = await composeMessage({
    from: { name: '', address: author },
    to: edit.to ?? [],
    cc: edit.cc ?? [],
    bcc: [],
    replyTo: [],
    subject: edit.subject ?? '',
    text: editsBody ? body.text : '',
    html: editsBody ? body.html : undefined,
    attachments: editsBody ? given.attachments : [],
    headers: {},
    inReplyTo: undefined,
    references: [],
  });
  const isReplaced = (name: string): boolean =>
    (name === 'subject' && edit.subject !== undefined) ||
    (name === 'to' && edit.to !== undefined) ||
    (name === 'cc' && edit.cc !== undefined) ||
    (editsBody && MIME_FIELD.test(name));
  const bodyOf = (message: Buffer) => findBodyStart(message, 0, message.length);
  return {
    bytes: Buffer.concat([
      fieldsOf(bytes, (name) => !isReplaced(name) && !SIGNATURES.has(name)),
      fieldsOf(composed, isReplaced),
      Buffer.from('\r\n'),
      editsBody ? composed.subarray(bodyOf(composed)) : bytes.subarray(bodyOf(bytes)),
    ]),
    before,
  };
}

function fieldsOf(message: Buffer, isWanted: (name: string) => boolean): Buffer {
  const fields = headerFields(message, 0, findBodyStart(message, 0, message.length));
  return Buffer.concat(
    fields.filter(({ name }) => isWanted(name)).map(({ start, end }) => message.subarray(start, end)),
  );
}

/** Readers see one of the two parts: if only one were changed, some readers would still see the old text. */
function requireEditableBody(
  bytes: Buffer,
  { text, html }: ContentEdit,
  before: { readonly text: string | null; readonly html: string | null },
): void {
  const problem = (path: string, message: string) =>
    new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });
  const path = text !== undefined ? '/edit/text' : '/edit/html';
  if (isSealed(indexMessage(bytes)))
    throw problem(path, 'cannot be changed: the message is signed or encrypted. Change subject and recipients only.');
  if (html === undefined && before.html !== null)
    throw problem('/edit/html', 'must be given with text: the message has both. Null removes the HTML.');
  if (text === undefined && before.text !== null)
    throw problem('/edit/text', 'must be given with html: the message has both. Null removes the plain text.');
}

/** Signed or encrypted by its author (RFC 1847, RFC 8551). */
const isSealed = ({ type, subtype, parts }: PartNode): boolean =>
  (type === 'multipart' && (subtype === 'signed' || subtype === 'encrypted')) ||
  (type === 'application' && /^(?:x-)?pkcs7-mime$/.test(subtype)) ||
  (type === 'multipart' && (parts ?? []).some(isSealed));
