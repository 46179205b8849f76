/**
 * The text of files in mail (PDF, DOCX, XLSX, PPTX, HTML, plain text), read in threads with limits
 * (`mailstore/reading/read-document.ts`). What cannot be read within them has no text: it is compared by its bytes alone.
 */
import { leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import type { Database } from '#db/database.ts';
import { DOCUMENT_MAX_BUFFER_BYTES, DOCUMENT_MAX_HEAP_MIB } from '#domain/mail/file-limits.ts';
import {
  CARRIED_DOCUMENT_MAX_BYTES,
  CARRIED_DOCUMENT_MAX_CHARACTERS,
  CARRIED_DOCUMENT_MAX_CPU_MS,
  CARRIED_DOCUMENT_MAX_WALL_MS,
  CARRIED_DOCUMENTS_MAX,
} from '#domain/sending/carried-mail.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import type { StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import { readDocumentPage } from '#mailstore/reading/read-document.ts';
import type { DocumentFacts } from '#mime/documents/document-kind.ts';

const LIMITS = {
  cpuMs: CARRIED_DOCUMENT_MAX_CPU_MS,
  wallMs: CARRIED_DOCUMENT_MAX_WALL_MS,
  heapMib: DOCUMENT_MAX_HEAP_MIB,
  bufferBytes: DOCUMENT_MAX_BUFFER_BYTES,
};

/** What may have text, by its type or name. Others may lie about it: what is sent is looked at by its bytes too. */
const MAY_HAVE_TEXT =
  /pdf|officedocument|opendocument|msword|^text\/|html|\bjson\b|\bxml\b|csv|\.(?:docx|xlsx|pptx|txt|md|log|ics|vcf|ya?ml)$/i;

/** Of a file that begins like PDF or a document of Office. */
const isDocument = (bytes: Uint8Array): boolean => {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024));
  return start.includes('%PDF-') || start.indexOf(Buffer.of(0x50, 0x4b, 3, 4)) === 0;
};

/** Empty: it has no text that can be read. @param source whose turn it is: a mailbox */
async function textOf(bytes: Uint8Array, facts: DocumentFacts, source: string): Promise<string> {
  if (bytes.byteLength === 0 || bytes.byteLength > CARRIED_DOCUMENT_MAX_BYTES) return '';
  try {
    const job = { bytes, facts, offset: 0, limit: CARRIED_DOCUMENT_MAX_CHARACTERS };
    return (await readDocumentPage(job, source, LIMITS)).text;
  } catch {
    // Damaged, protected, too complex, or too many others are being read.
    return '';
  }
}

type WithFiles = Pick<StoredMessageContent, 'blob' | 'parts' | 'attachments' | 'mailboxId'>;

/** Of the first files of a stored message, joined. */
export async function storedDocumentTexts(db: Database, message: WithFiles): Promise<string> {
  const wanted = message.attachments.filter(
    ({ contentType, filename }) => MAY_HAVE_TEXT.test(contentType) || MAY_HAVE_TEXT.test(filename ?? ''),
  );
  const parts = new Map([...leaves(message.parts)].map(({ number, part }) => [number, part]));
  const texts: string[] = [];
  for (const { id, filename, contentType, sizeBytes } of wanted.slice(0, CARRIED_DOCUMENTS_MAX)) {
    const part = parts.get(id);
    if (part === undefined || sizeBytes > CARRIED_DOCUMENT_MAX_BYTES) continue;
    const body = await readBlob(db, message.blob, part.body, part.end - part.body);
    const text = await textOf(decodeTransfer(body, part.encoding), { filename, contentType }, message.mailboxId);
    if (text.trim() !== '') texts.push(text);
  }
  return texts.join('\n\n');
}

/** Of files of an outgoing message that are PDF or documents of Office, whatever their type says. */
export async function outgoingDocumentTexts(
  bytes: Buffer,
  { parts, attachments }: Pick<WithFiles, 'parts' | 'attachments'>,
  source: string,
): Promise<string[]> {
  const info = new Map(attachments.map((attachment) => [attachment.id, attachment]));
  const texts: string[] = [];
  let read = 0;
  for (const { number, part } of leaves(parts)) {
    if (part.type === 'text' || part.type === 'multipart' || read >= CARRIED_DOCUMENTS_MAX) continue;
    const content = decodeTransfer(bytes.subarray(part.body, part.end), part.encoding);
    if (!isDocument(content)) continue;
    read++;
    const { filename = null, contentType = 'application/octet-stream' } = info.get(number) ?? {};
    texts.push(await textOf(content, { filename, contentType }, source));
  }
  return texts;
}
