/** Elements and texts of XML from strangers. Entities other than those of XML itself are refused, with every DOCTYPE. */
import { StringDecoder } from 'node:string_decoder';
import { Parser } from 'htmlparser2';
import { XML_DEPTH_MAX } from '#domain/mail/file-limits.ts';
import { DocumentProblem } from './document-problem.ts';

export interface XmlReader {
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
export async function* readXml<Found>(
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
export async function readWholeXml(chunks: AsyncIterable<Buffer>, reader: XmlReader): Promise<void> {
  for await (const _ of readXml(chunks, reader, () => undefined)) return;
}

/** Collects text between two calls of `take`. */
export class TextPieces {
  #pieces: string[] = [];

  add(text: string): void {
    this.#pieces.push(text);
  }

  take(): string | undefined {
    if (this.#pieces.length === 0) return undefined;
    return this.#pieces.splice(0).join('');
  }
}
