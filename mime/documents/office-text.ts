/** The text of DOCX, XLSX and PPTX (ECMA-376): XML in a ZIP archive. */
import { SHARED_TEXT_MAX_CHARACTERS, SHEETS_MAX, SLIDES_MAX } from '#domain/mail/file-limits.ts';
import { type Archive, openArchive } from './archive.ts';
import type { DocumentText } from './document-kind.ts';
import { DocumentProblem } from './document-problem.ts';
import { readWholeXml, readXml, TextPieces } from './read-xml.ts';

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
