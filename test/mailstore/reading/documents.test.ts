/** The text of documents in pages, and documents that are made to harm the reader. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { CatalogueError } from '#domain/errors.ts';
import {
  DOCUMENT_MAX_BUFFER_BYTES,
  DOCUMENT_MAX_HEAP_MIB,
  DOCUMENT_MAX_WALL_MS,
  SHEETS_MAX,
  XML_DEPTH_MAX,
} from '#domain/mail/file-limits.ts';
import { type DocumentLimits, readDocumentPage } from '#mailstore/reading/read-document.ts';
import { DocumentProblem, type DocumentProblemKind, type TextPage } from '#mime/documents/document-kind.ts';
import { docx, paragraph, pdf, pdfOf, pdfStream, pptx, xlsx, zip } from '#test/support/documents.ts';

const MIB_BYTES = 1024 * 1024;
/** On a busy machine a thread may not be able to start in its time, which says nothing about the document. */
const TRIES = 5;

async function page(
  bytes: Buffer,
  filename: string,
  contentType = 'application/octet-stream',
  offset = 0,
  limit = 1_000,
  limits?: DocumentLimits,
): Promise<TextPage> {
  for (let tries = 1; ; tries++)
    try {
      return await readDocumentPage({ bytes, facts: { filename, contentType }, offset, limit }, 'a mailbox', limits);
    } catch (error) {
      if (!(error instanceof CatalogueError && error.code === 'unavailable') || tries === TRIES) throw error;
    }
}

describe('text', () => {
  const cells =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1"><v>4.5</v></c></row><row r="2"><c r="B2" t="inlineStr"><is><t>x &amp; y</t></is></c><c r="C2" t="b"><v>1</v></c></row>';
  const samples: readonly [string, Buffer, string, string][] = [
    ['a.pdf', pdf([['One', 'Two'], ['Three']]), 'application/pdf', '[Page 1]\nOne\nTwo\n\n[Page 2]\nThree\n'],
    [
      'a.docx',
      docx(
        `${paragraph('Dear Ada,')}<w:tbl><w:tr><w:tc>${paragraph('a')}</w:tc><w:tc>${paragraph('b')}</w:tc></w:tr></w:tbl>`,
      ),
      'x/x',
      'Dear Ada,\na \tb \t\n',
    ],
    [
      'a.xlsx',
      xlsx(
        [
          { name: 'Prices', rows: cells },
          { name: 'Empty', rows: '' },
        ],
        ['Blue one'],
      ),
      'x/x',
      '[Sheet Prices]\nBlue one\t\t4.5\n\tx & y\tTRUE\n\n[Sheet Empty]\n',
    ],
    ['a.pptx', pptx(['First', 'Second']), 'x/x', '[Slide 1]\nFirst\n\n[Slide 2]\nSecond\n'],
    ['a.csv', Buffer.from('a;b\r\n1;ü\r\n'), 'text/csv', 'a;b\n1;ü\n'],
    ['a.txt', Buffer.from('\ufeffgrün', 'utf16le'), 'text/plain', 'grün'],
    ['a.html', Buffer.from('<p>Hello</p><script>x</script><p>you</p>'), 'text/html', 'Hello\n\nyou'],
  ];
  for (const [filename, bytes, contentType, expected] of samples)
    test(`of ${filename}`, async () => {
      const { text, nextOffset } = await page(bytes, filename, contentType);
      assert.equal(text.trimEnd(), expected.trimEnd());
      assert.equal(nextOffset, null);
    });

  test('comes in pages that are together the whole text, and never cut a character in two', async () => {
    const whole = '😀'.repeat(50);
    let [text, offset, pages]: [string, number | null, number] = ['', 0, 0];
    while (offset !== null) {
      const next: TextPage = await page(Buffer.from(whole), 'a.txt', 'text/plain', offset, 33);
      assert.ok(next.text.length <= 33 && next.text.isWellFormed());
      [text, offset, pages] = [text + next.text, next.nextOffset, pages + 1];
    }
    assert.deepEqual([text, pages], [whole, 4]);
  });
});

const bomb = Buffer.alloc(300 * MIB_BYTES, 'x'.charCodeAt(0));
const nested = deflateSync(deflateSync(bomb));
const catalog = '<< /Type /Catalog /Pages 2 0 R >>';
const pages = (kids: string, count: number) => `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`;
const pageObject = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>';
const laughs = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>`;
const sound = pdf([['Hello']]);
const soundZip = docx(paragraph('Hello'));
const rel = (target: string) => `<Relationships><Relationship Id="rId1" Target="${target}"/></Relationships>`;
const workbook = '<workbook xmlns:r="r"><sheets><sheet name="a" r:id="rId1"/></sheets></workbook>';

/** Name, bytes, and the accepted kinds of problem; none: also an answer is harmless. */
const HOSTILE: readonly [string, () => Buffer, string, readonly DocumentProblemKind[]][] = [
  [
    'a ZIP bomb in DOCX',
    () => zip([{ name: 'word/document.xml', content: bomb }]),
    'a.docx',
    ['too_complex', 'damaged'],
  ],
  ['a ZIP bomb inside of an element', () => docx(paragraph(bomb.toString('latin1', 0, 200 * MIB_BYTES))), 'a.docx', []],
  ['a bomb of empty elements', () => docx('<w:x/>'.repeat(30_000_000)), 'a.docx', ['too_complex']],
  [
    'a bomb that declares a small size',
    () => zip([{ name: 'word/document.xml', content: bomb, declaredSize: 10 }]),
    'a.docx',
    ['damaged'],
  ],
  [
    'a bomb of shared texts',
    () => xlsx([{ name: 'a', rows: '' }], [bomb.toString('latin1', 0, 40 * MIB_BYTES)]),
    'a.xlsx',
    ['too_complex'],
  ],
  [
    'millions of shared texts',
    () =>
      xlsx(
        [{ name: 'a', rows: '' }],
        Array.from({ length: 5_000_000 }, () => ''),
      ),
    'a.xlsx',
    [],
  ],
  [
    '10,000 sheets',
    () => xlsx(Array.from({ length: 10_000 }, (_, i) => ({ name: `s${i}`, rows: '' }))),
    'a.xlsx',
    ['too_complex'],
  ],
  [
    `one sheet more than ${SHEETS_MAX}`,
    () => xlsx(Array.from({ length: SHEETS_MAX + 1 }, (_, i) => ({ name: `s${i}`, rows: '' }))),
    'a.xlsx',
    ['too_complex'],
  ],
  [
    '40,000 files',
    () => zip(Array.from({ length: 40_000 }, (_, i) => ({ name: `f${i}`, content: '' }))),
    'a.docx',
    ['too_complex'],
  ],
  ['10,000 slides', () => pptx(Array.from({ length: 10_000 }, () => 'x')), 'a.pptx', ['too_complex']],
  ['an entity bomb', () => docx(paragraph('&b;'), laughs), 'a.docx', ['damaged']],
  [
    'an external entity',
    () => docx(paragraph('&e;'), '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
    'a.docx',
    ['damaged'],
  ],
  ['deeply nested XML', () => docx('<w:p>'.repeat(XML_DEPTH_MAX + 1)), 'a.docx', ['too_complex']],
  ['a million open elements', () => docx('<w:p>'.repeat(1_000_000)), 'a.docx', ['too_complex']],
  [
    'a sheet that is its own workbook',
    () =>
      zip([
        { name: 'xl/workbook.xml', content: workbook },
        { name: 'xl/_rels/workbook.xml.rels', content: rel('workbook.xml') },
      ]),
    'a.xlsx',
    [],
  ],
  [
    'a sheet outside of the archive',
    () =>
      zip([
        { name: 'xl/workbook.xml', content: workbook },
        { name: 'xl/_rels/workbook.xml.rels', content: rel('../../../etc/passwd') },
      ]),
    'a.xlsx',
    [],
  ],
  ['a path out of the archive', () => zip([{ name: '../../word/document.xml', content: 'x' }]), 'a.docx', ['damaged']],
  [
    'two files with one name',
    () =>
      zip([
        { name: 'word/document.xml', content: 'a' },
        { name: 'word/document.xml', content: 'b' },
      ]),
    'a.docx',
    ['damaged'],
  ],
  [
    'an encrypted archive',
    () => zip([{ name: 'word/document.xml', content: 'x', encrypted: true }]),
    'a.docx',
    ['encrypted', 'damaged'],
  ],
  [
    'an encrypted document of Office',
    () => Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), Buffer.from('EncryptedPackage', 'utf16le')]),
    'a.docx',
    ['encrypted'],
  ],
  ['a document of Office before 2007', () => Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), 'a.doc', ['unsupported']],
  ['an archive that is cut off', () => soundZip.subarray(0, soundZip.length / 2), 'a.docx', ['damaged']],
  ['an archive that is no document', () => zip([{ name: 'a.txt', content: 'x' }]), 'a.docx', ['unsupported']],
  ['a file that calls itself DOCX', () => Buffer.from('hello'), 'a.docx', ['damaged']],
  ['a PDF that is cut off', () => sound.subarray(0, 40), 'a.pdf', ['damaged']],
  ['a file that calls itself PDF', () => Buffer.from('hello'), 'a.pdf', ['damaged']],
  ['a PDF of its first line', () => Buffer.from('%PDF-1.7\n'), 'a.pdf', ['damaged']],
  ['a PDF bomb', () => pdfOf([catalog, pages('3 0 R', 1), pageObject, pdfStream(bomb)]), 'a.pdf', []],
  [
    'a PDF bomb in a bomb',
    () => pdfOf([catalog, pages('3 0 R', 1), pageObject, pdfStream('', '[/FlateDecode /FlateDecode]', nested)]),
    'a.pdf',
    [],
  ],
  [
    'a PDF whose pages contain themselves',
    () => pdfOf([catalog, pages('2 0 R', 1)]),
    'a.pdf',
    ['damaged', 'too_complex'],
  ],
  [
    'a PDF that says it has a billion pages',
    () => pdfOf([catalog, pages('3 0 R', 1_000_000_000), pageObject, pdfStream('')]),
    'a.pdf',
    [],
  ],
  [
    'a PDF whose table of objects refers to itself',
    () => Buffer.from('%PDF-1.7\nxref\n0 0\ntrailer\n<< /Prev 9 /Size 0 >>\nstartxref\n9\n%%EOF'),
    'a.pdf',
    [],
  ],
  [
    'an encrypted PDF',
    () =>
      pdfOf(
        [
          catalog,
          pages('3 0 R', 1),
          pageObject,
          pdfStream('x'),
          `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`,
        ],
        '/Encrypt 5 0 R /ID [<00><00>]',
      ),
    'a.pdf',
    ['encrypted'],
  ],
  ['a picture', () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'a.png', ['unsupported']],
  ['bytes that call themselves text', () => Buffer.from([0x61, 0, 0x62]), 'a.txt', ['unsupported']],
  ['HTML of a million open elements', () => Buffer.from('<div>'.repeat(1_000_000)), 'a.html', []],
];

test('a hostile document ends in an error that names its problem, and the reader goes on', async (context) => {
  assert.ok(HOSTILE.length >= 25);
  assert.ok(DOCUMENT_MAX_WALL_MS < 10_000, 'the time limit that the answer keeps');
  for (const [name, make, filename, kinds] of HOSTILE)
    await context.test(name, async () => {
      const before = process.memoryUsage().rss;
      const outcome = await page(make(), filename).catch((error: unknown) => error);
      if (outcome instanceof DocumentProblem) {
        assert.ok(kinds.length === 0 || kinds.includes(outcome.kind), `${outcome.kind}: ${outcome.message}`);
        assert.ok(!/passwd|root:/.test(outcome.message));
      } else {
        assert.ok(!(outcome instanceof Error), String(outcome));
        assert.deepEqual(kinds, [], JSON.stringify(outcome).slice(0, 200));
        assert.ok(!/root:/.test(JSON.stringify(outcome)));
      }
      context.diagnostic(`${name}: ${Math.round((process.memoryUsage().rss - before) / MIB_BYTES)} MiB`);
    });
  assert.equal((await page(sound, 'a.pdf')).text, '[Page 1]\nHello\n');
});

test('a PDF of 200 pages is read in pages of the budget', async () => {
  // The book is about its pages: a busy machine may take its time for them.
  const patient: DocumentLimits = {
    cpuMs: 30_000,
    wallMs: 120_000,
    heapMib: DOCUMENT_MAX_HEAP_MIB,
    bufferBytes: DOCUMENT_MAX_BUFFER_BYTES,
  };
  const line = 'The quick brown fox jumps over the lazy dog, and so it goes on.';
  const bytes = pdf(
    Array.from({ length: 200 }, (_, i) => [`Chapter ${i + 1}`, ...Array.from({ length: 30 }, () => line)]),
  );
  const texts: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const next: TextPage = await page(bytes, 'book.pdf', 'application/pdf', offset, 100_000, patient);
    assert.ok(next.text.length <= 100_000);
    texts.push(next.text);
    offset = next.nextOffset;
  }
  assert.ok(texts.length > 3);
  const text = texts.join('');
  for (const number of [1, 100, 200])
    assert.ok(text.includes(`[Page ${number}]\nChapter ${number}\n`), `page ${number}`);
});
