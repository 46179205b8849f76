/** Documents made byte by byte: sound ones, and the parts of hostile ones. */
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly content: Buffer | string;
  /** Bit 0 of the flags. */
  readonly encrypted?: true;
  /** The size that is declared; default: the real one. */
  readonly declaredSize?: number;
}

/** A ZIP archive of deflated files. */
export function zip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, content, encrypted, declaredSize } of files) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(encrypted ? 1 : 0, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declaredSize ?? bytes.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), common, rest, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

const R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const relationships = (targets: readonly string[]): string =>
  `<Relationships>${targets.map((target, i) => `<Relationship Id="rId${i + 1}" Target="${target}"/>`).join('')}</Relationships>`;

export const docx = (body: string, prolog = ''): Buffer =>
  zip([
    { name: 'word/document.xml', content: `${prolog}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>` },
  ]);

export const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

export function xlsx(sheets: readonly { name: string; rows: string }[], shared: readonly string[] = []): Buffer {
  const list = sheets.map(({ name }, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`).join('');
  return zip([
    { name: 'xl/workbook.xml', content: `<workbook ${R}><sheets>${list}</sheets></workbook>` },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationships(sheets.map((_, i) => `worksheets/sheet${i + 1}.xml`)),
    },
    { name: 'xl/sharedStrings.xml', content: `<sst>${shared.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>` },
    ...sheets.map(({ rows }, i) => ({
      name: `xl/worksheets/sheet${i + 1}.xml`,
      content: `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    })),
  ]);
}

export function pptx(slides: readonly string[]): Buffer {
  const ids = slides.map((_, i) => `<p:sldId id="${i + 256}" r:id="rId${i + 1}"/>`).join('');
  return zip([
    { name: 'ppt/presentation.xml', content: `<p:presentation ${R}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>` },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relationships(slides.map((_, i) => `slides/slide${i + 1}.xml`)),
    },
    ...slides.map((text, i) => ({
      name: `ppt/slides/slide${i + 1}.xml`,
      content: `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`,
    })),
  ]);
}

/** A PDF of numbered objects; the first is the catalog. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [i, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]);
    offsets.push(at);
    parts.push(part);
    at += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

export const pdfStream = (content: Buffer | string, filter = '/FlateDecode', packed?: Buffer): Buffer => {
  const bytes = packed ?? deflateSync(content);
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} /Filter ${filter} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);
};

/** A PDF with one text for each page. */
export function pdf(pages: readonly (readonly string[])[]): Buffer {
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, i) => `${4 + i * 2} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [i, lines] of pages.entries()) {
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + i * 2} 0 R >>`,
      pdfStream(`BT /F1 10 Tf 12 TL 40 760 Td ${lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`),
    );
  }
  return pdfOf(objects);
}
