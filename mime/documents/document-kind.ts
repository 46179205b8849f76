/**
 * The kind of a document: by its first bytes, which cannot be wrong by mistake, then by its type and name; and why one has
 * no text that can be read.
 */

type DocumentKind = 'pdf' | 'office' | 'html' | 'text';

export interface DocumentFacts {
  readonly contentType: string;
  readonly filename: string | null;
}

export const DOCUMENT_FORMATS = ['pdf', 'docx', 'xlsx', 'pptx', 'html', 'text'] as const;
type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

export interface TextPage {
  readonly format: DocumentFormat;
  readonly text: string;
  /** Where the next page begins; null: this is the last one. */
  readonly nextOffset: number | null;
}

/** A format, and its text in pieces, made as they are taken. */
export interface DocumentText {
  readonly format: DocumentFormat;
  readonly pieces: AsyncIterable<string>;
}

const PDF_WITHIN_BYTES = 1_024;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const HTML_NAME = /\.x?html?$/i;
const TEXT_TYPE = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:json|xml|yaml|x-ndjson|csv)\b)/i;
const TEXT_NAME = /\.(?:txt|csv|tsv|md|json|ndjson|xml|ya?ml|log|ics|vcf|ini|toml|sql)$/i;
const PDF_OR_OFFICE = /pdf|officedocument|\.(?:pdf|docx|xlsx|pptx)$/i;

const startsWith = (bytes: Buffer, ...start: readonly number[]): boolean => start.every((byte, i) => bytes[i] === byte);

/** @throws {DocumentProblem} unsupported, encrypted, damaged */
export function documentKind(bytes: Buffer, { contentType, filename }: DocumentFacts): DocumentKind {
  const name = filename ?? '';
  if (bytes.subarray(0, PDF_WITHIN_BYTES).includes('%PDF-')) return 'pdf';
  if (startsWith(bytes, 0x50, 0x4b, 3, 4)) return 'office';
  if (startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0)) {
    // A document of Office with a password is stored in the format of earlier versions.
    if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')))
      throw new DocumentProblem('encrypted', 'The document is protected by a password.');
    throw new DocumentProblem('unsupported', 'The document is in a format of Office before 2007.');
  }
  if (PDF_OR_OFFICE.test(contentType) || PDF_OR_OFFICE.test(name))
    throw new DocumentProblem('damaged', 'The file does not begin like a document of its type.');
  if (HTML_TYPE.test(contentType) || HTML_NAME.test(name)) return 'html';
  if ((TEXT_TYPE.test(contentType) || TEXT_NAME.test(name)) && !isBinary(bytes)) return 'text';
  throw new DocumentProblem('unsupported', 'The service reads PDF, DOCX, XLSX, PPTX, HTML, CSV and other plain text.');
}

/** NUL is in no text but UTF-16, which begins with its mark. */
const isBinary = (bytes: Buffer): boolean =>
  bytes.subarray(0, 65_536).includes(0) && !startsWith(bytes, 0xff, 0xfe) && !startsWith(bytes, 0xfe, 0xff);

/**
 * Why a document has no text that can be read:
 *
 * - `unsupported`: of another kind.
 * - `encrypted`: a password is needed.
 * - `damaged`: cut off, or not of the kind that it says.
 * - `too_complex`: it would take more time or memory than one document may have.
 */
export type DocumentProblemKind = 'unsupported' | 'encrypted' | 'damaged' | 'too_complex';

export class DocumentProblem extends Error {
  readonly kind: DocumentProblemKind;

  /** @param detail a sentence for people, without text of the document */
  constructor(kind: DocumentProblemKind, detail: string) {
    super(detail);
    this.name = 'DocumentProblem';
    this.kind = kind;
  }
}
