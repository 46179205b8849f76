import { getDocumentProxy } from 'unpdf';
import { PDF_PAGES_MAX } from '#domain/mail/file-limits.ts';
import { DocumentProblem } from './document-problem.ts';

const SILENT = 0;

/** The text of a PDF page by page, each behind a line with its number. @throws {DocumentProblem} */
export async function* pdfText(bytes: Buffer): AsyncGenerator<string> {
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
