/** The files in a ZIP archive from strangers, each read as a stream, all together up to a limit. */
import { promisify } from 'node:util';
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl';
import { ARCHIVE_ENTRIES_MAX, ARCHIVE_READ_MAX_BYTES } from '#domain/mail/file-limits.ts';
import { DocumentProblem } from './document-problem.ts';

export interface Archive {
  readonly names: ReadonlySet<string>;
  /** The bytes of a file, in chunks; none if there is no such file. @throws {DocumentProblem} */
  read(name: string): AsyncGenerator<Buffer>;
}

const openBuffer = promisify<Buffer, Options, ZipFile>(fromBuffer);
const damaged = (): DocumentProblem => new DocumentProblem('damaged', 'The document is damaged.');

/** @throws {DocumentProblem} damaged, encrypted, too_complex */
export async function openArchive(bytes: Buffer): Promise<Archive> {
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
