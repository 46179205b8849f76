/** The text of a document from strangers, a page of it at a time. To be called in a thread with limits. */
import { decodeUndeclared, storableText } from '@agent-mailbox/mime-structure/charset';
import { getDocumentProxy } from 'unpdf';
import { DOCUMENT_TEXT_MAX_CHARACTERS, PDF_PAGES_MAX } from '#domain/mail/file-limits.ts';
import { textOfHtml } from '#mime/html-content.ts';
import {
  type DocumentFacts,
  DocumentProblem,
  type DocumentText,
  documentKind,
  type TextPage,
} from './document-kind.ts';
import { officeText } from './office-text.ts';

/**
 * @param offset in UTF-16 code units, as `nextOffset` of the page before
 * @param limit most code units of the page
 * @throws {DocumentProblem}
 */
export async function documentPage(
  bytes: Buffer,
  facts: DocumentFacts,
  offset: number,
  limit: number,
): Promise<TextPage> {
  const { format, pieces } = await open(bytes, facts);
  const end = Math.min(offset + limit, DOCUMENT_TEXT_MAX_CHARACTERS);
  const taken: string[] = [];
  let at = 0;
  let more = false;
  for await (const piece of pieces) {
    const from = Math.max(0, offset - at);
    if (from < piece.length && at < end) taken.push(piece.slice(from, end - at));
    at += piece.length;
    if (at > end) {
      more = end < DOCUMENT_TEXT_MAX_CHARACTERS;
      break;
    }
  }
  let text = taken.join('');
  // The two halves of a character stay together.
  if (more && text.length > 1 && /[\ud800-\udbff]$/.test(text)) text = text.slice(0, -1);
  return { format, text: storableText(text), nextOffset: more ? offset + text.length : null };
}

async function open(bytes: Buffer, facts: DocumentFacts): Promise<DocumentText> {
  const kind = documentKind(bytes, facts);
  switch (kind) {
    case 'pdf':
      return { format: 'pdf', pieces: pdfText(bytes) };
    case 'office':
      return officeText(bytes);
    case 'html':
      return { format: 'html', pieces: single(textOfHtml(decodeUndeclared(bytes))) };
    case 'text':
      return { format: 'text', pieces: single(decodeText(bytes)) };
  }
}

const UTF_16: Readonly<Record<number, string>> = { 0xfffe: 'utf-16le', 0xfeff: 'utf-16be' };

function decodeText(bytes: Buffer): string {
  const marked = bytes.length > 1 ? UTF_16[bytes.readUInt16BE(0)] : undefined;
  const text = marked === undefined ? decodeUndeclared(bytes) : new TextDecoder(marked).decode(bytes);
  return text.replaceAll('\r\n', '\n');
}

async function* single(text: string): AsyncGenerator<string> {
  yield text;
}

const SILENT = 0;

/** The text of a PDF page by page, each behind a line with its number. @throws {DocumentProblem} */
async function* pdfText(bytes: Buffer): AsyncGenerator<string> {
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), {
    verbosity: SILENT,
    useSystemFonts: false,
    disableFontFace: true,
    useWasm: false,
    maxImageSize: 1,
  }).catch((error: unknown) => {
    throw problemOf(error);
  });
  if (pdf.numPages > PDF_PAGES_MAX)
    throw new DocumentProblem('too_complex', `The PDF has more than ${PDF_PAGES_MAX} pages.`);
  for (let number = 1; number <= pdf.numPages; number++) {
    yield `${number === 1 ? '' : '\n'}[Page ${number}]\n`;
    try {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      yield items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
      page.cleanup();
    } catch (error) {
      throw problemOf(error);
    }
    yield '\n';
  }
}

function problemOf(error: unknown): DocumentProblem {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return new DocumentProblem('encrypted', 'The PDF is protected by a password.');
  return new DocumentProblem('damaged', 'The PDF is damaged.');
}
