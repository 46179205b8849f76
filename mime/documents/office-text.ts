/**
 * The text of DOCX, XLSX and PPTX (ECMA-376): XML in a ZIP archive, both from strangers.
 *
 *     archive    each file is read as a stream, all together up to a limit
 *     XML        entities other than those of XML itself are refused, with every DOCTYPE
 */

import { StringDecoder } from 'node:string_decoder';
import { promisify } from 'node:util';
import { Parser } from 'htmlparser2';
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl';
import {
  ARCHIVE_ENTRIES_MAX,
  ARCHIVE_READ_MAX_BYTES,
  SHARED_TEXT_MAX_CHARACTERS,
  SHEETS_MAX,
  SLIDES_MAX,
  XML_DEPTH_MAX,
} from '#domain/mail/file-limits.ts';
import { DocumentProblem, type DocumentText } from './document-kind.ts';

/** @throws {DocumentProblem} */
export async function officeText(bytes: Buffer): Promise<DocumentText> {
  const archive = await openArchive(bytes);
  const { names } = archive;
  if (names.has('word/document.xml')) return { format: 'docx', pieces: wordText(archive) };
  if (names.has('xl/workbook.xml')) return { format: 'xlsx', pieces: workbookText(archive) };
  if (names.has('ppt/presentation.xml')) return { format: 'pptx', pieces: slidesText(archive) };
  throw new DocumentProblem('unsupported', 'The archive is no document of Word, Excel or PowerPoint.');
}

/** Text of runs (`t`) with breaks; paragraphs end in a line break, cells in a tab. */
async function* runs(archive: Archive, name: string): AsyncGenerator<string> {
  const found = new TextPieces();
  let inText = false;
  let cellDepth = 0;
  yield* readXml(
    archive.read(name),
    {
      open(element) {
        if (element === 't') inText = true;
        else if (element === 'tab') found.add('\t');
        else if (element === 'br' || element === 'cr') found.add('\n');
        else if (element === 'tc') cellDepth++;
      },
      text(text) {
        if (inText) found.add(text);
      },
      close(element) {
        if (element === 't') inText = false;
        else if (element === 'p') found.add(cellDepth > 0 ? ' ' : '\n');
        else if (element === 'tc') {
          cellDepth--;
          found.add('\t');
        } else if (element === 'tr') found.add('\n');
      },
    },
    () => found.take(),
  );
}

async function* wordText(archive: Archive): AsyncGenerator<string> {
  yield* runs(archive, 'word/document.xml');
  for (const [name, title] of [
    ['word/footnotes.xml', 'Footnotes'],
    ['word/endnotes.xml', 'Endnotes'],
  ] as const)
    if (archive.names.has(name)) {
      yield `\n[${title}]\n`;
      yield* runs(archive, name);
    }
}

/** Targets of a part by relationship id; those outside of the archive are left out. */
async function targetsOf(archive: Archive, folder: string, part: string): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>();
  await readWholeXml(archive.read(`${folder}/_rels/${part}.rels`), {
    open(element, { Id, Target, TargetMode }) {
      if (element !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External') return;
      targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `${folder}/${Target}`);
    },
  });
  return targets;
}

async function* slidesText(archive: Archive): AsyncGenerator<string> {
  const targets = await targetsOf(archive, 'ppt', 'presentation.xml');
  const ids: string[] = [];
  await readWholeXml(archive.read('ppt/presentation.xml'), {
    open(element, attributes) {
      const id = attributes['r:id'];
      if (element === 'sldId' && id !== undefined) ids.push(id);
    },
  });
  if (ids.length > SLIDES_MAX)
    throw new DocumentProblem('too_complex', `The presentation has more than ${SLIDES_MAX} slides.`);
  for (const [i, id] of ids.entries()) {
    yield `${i === 0 ? '' : '\n'}[Slide ${i + 1}]\n`;
    const target = targets.get(id);
    if (target !== undefined) yield* runs(archive, target);
  }
}

interface Sheet {
  readonly name: string;
  readonly id: string;
}

async function* workbookText(archive: Archive): AsyncGenerator<string> {
  const targets = await targetsOf(archive, 'xl', 'workbook.xml');
  const sheets: Sheet[] = [];
  await readWholeXml(archive.read('xl/workbook.xml'), {
    open(element, { name = '', 'r:id': id }) {
      if (element === 'sheet' && id !== undefined) sheets.push({ name, id });
    },
  });
  if (sheets.length > SHEETS_MAX)
    throw new DocumentProblem('too_complex', `The workbook has more than ${SHEETS_MAX} sheets.`);
  const shared = await sharedTexts(archive);
  for (const [i, { name, id }] of sheets.entries()) {
    yield `${i === 0 ? '' : '\n'}[Sheet ${name}]\n`;
    const target = targets.get(id);
    if (target !== undefined) yield* sheetRows(archive, target, shared);
  }
}

async function sharedTexts(archive: Archive): Promise<readonly string[]> {
  const texts: string[] = [];
  let [inText, current, total] = [false, '', 0];
  await readWholeXml(archive.read('xl/sharedStrings.xml'), {
    open(element) {
      if (element === 'si') current = '';
      inText = element === 't';
    },
    text(text) {
      if (!inText) return;
      current += text;
      total += text.length;
      if (total > SHARED_TEXT_MAX_CHARACTERS)
        throw new DocumentProblem('too_complex', 'The workbook contains too much text.');
    },
    close(element) {
      if (element === 't') inText = false;
      else if (element === 'si') texts.push(current);
    },
  });
  return texts;
}

/** Larger gaps between two cells of a row are shortened: a sheet has 16,384 columns. */
const GAP_MAX = 30;

/** Rows as lines, cells divided by tabs: shared texts, own texts, and values as they are stored. */
async function* sheetRows(archive: Archive, name: string, shared: readonly string[]): AsyncGenerator<string> {
  const found = new TextPieces();
  let [column, type, value, inValue] = [0, '', '', false];
  let rowHasCells = false;
  yield* readXml(
    archive.read(name),
    {
      open(element, attributes) {
        if (element === 'row') [column, rowHasCells] = [0, false];
        else if (element === 'c') {
          const at = columnOf(attributes['r'] ?? '') ?? column + 1;
          const gap = Math.min(Math.max(at - Math.max(column, 1), 0), GAP_MAX);
          if (gap > 0) found.add('\t'.repeat(gap));
          [column, type, value] = [at, attributes['t'] ?? '', ''];
        } else if (element === 'v' || element === 't') inValue = true;
      },
      text(text) {
        if (inValue) value += text;
      },
      close(element) {
        if (element === 'v' || element === 't') inValue = false;
        else if (element === 'c') {
          const shown = type === 's' ? (shared[Number(value)] ?? '') : type === 'b' ? booleanOf(value) : value;
          if (shown !== '') rowHasCells = true;
          found.add(shown.replace(/[\t\n\r]+/g, ' '));
        } else if (element === 'row' && (rowHasCells || column > 0)) found.add('\n');
      },
    },
    () => found.take(),
  );
}

const booleanOf = (value: string): string => (value === '1' ? 'TRUE' : 'FALSE');

/** `C7` is 3. */
function columnOf(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

export interface Archive {
  readonly names: ReadonlySet<string>;
  /** The bytes of a file, in chunks; none if there is no such file. @throws {DocumentProblem} */
  read(name: string): AsyncGenerator<Buffer>;
}

const openBuffer = promisify<Buffer, Options, ZipFile>(fromBuffer);
const damaged = (): DocumentProblem => new DocumentProblem('damaged', 'The document is damaged.');

/** @throws {DocumentProblem} damaged, encrypted, too_complex */
async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await openBuffer(bytes, { lazyEntries: true }).catch(() => {
    throw damaged();
  });
  const entries = new Map<string, Entry>();
  if (zip.entryCount > ARCHIVE_ENTRIES_MAX) throw tooMany();
  await new Promise<void>((resolve, reject) => {
    zip.on('error', () => reject(damaged()));
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= ARCHIVE_ENTRIES_MAX) reject(tooMany());
      // Of two files with one name, programs show the first or the last: such a document is not trusted to be one.
      else if (entries.has(entry.fileName)) reject(damaged());
      else {
        entries.set(entry.fileName, entry);
        zip.readEntry();
      }
    });
    zip.readEntry();
  });
  let total = 0;
  return {
    names: new Set(entries.keys()),
    async *read(name) {
      const entry = entries.get(name);
      if (entry === undefined) return;
      if (entry.isEncrypted()) throw new DocumentProblem('encrypted', 'The document is protected by a password.');
      try {
        const stream = await zip.openReadStreamPromise(entry);
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          total += chunk.length;
          if (total > ARCHIVE_READ_MAX_BYTES)
            throw new DocumentProblem('too_complex', 'The document is too large when it is unpacked.');
          yield chunk;
        }
      } catch (error) {
        throw error instanceof DocumentProblem ? error : damaged();
      }
    },
  };
}

const tooMany = (): DocumentProblem =>
  new DocumentProblem('too_complex', `The document contains more than ${ARCHIVE_ENTRIES_MAX} files.`);

interface XmlReader {
  /** @param name without the prefix of its namespace */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * Reads a document while it arrives.
 *
 * @param taken called behind each chunk: what the reader has found by then
 * @throws {DocumentProblem}
 */
async function* readXml<Found>(
  chunks: AsyncIterable<Buffer>,
  reader: XmlReader,
  taken: () => Found | undefined,
): AsyncGenerator<Found> {
  let depth = 0;
  let problem: DocumentProblem | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > XML_DEPTH_MAX)
          problem ??= new DocumentProblem('too_complex', `The document nests more than ${XML_DEPTH_MAX} elements.`);
        reader.open?.(localName(name), attributes);
      },
      ontext: (text) => reader.text?.(text),
      onclosetag(name) {
        depth--;
        reader.close?.(localName(name));
      },
      onprocessinginstruction(name) {
        if (name.toLowerCase() === '!doctype')
          problem ??= new DocumentProblem('damaged', 'The document defines entities of its own, which none needs.');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new StringDecoder('utf8');
  for await (const chunk of chunks) {
    parser.write(decoder.write(chunk));
    if (problem !== undefined) throw problem;
    const found = taken();
    if (found !== undefined) yield found;
  }
  parser.end(decoder.end());
  if (problem !== undefined) throw problem;
  const found = taken();
  if (found !== undefined) yield found;
}

/** Reads a document to its end. @throws {DocumentProblem} */
async function readWholeXml(chunks: AsyncIterable<Buffer>, reader: XmlReader): Promise<void> {
  for await (const _ of readXml(chunks, reader, () => undefined)) return;
}

/** Collects text between two calls of `take`. */
class TextPieces {
  #pieces: string[] = [];

  add(text: string): void {
    this.#pieces.push(text);
  }

  take(): string | undefined {
    if (this.#pieces.length === 0) return undefined;
    return this.#pieces.splice(0).join('');
  }
}
