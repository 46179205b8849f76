/** The bytes of an upload: raw with their name and type in the header, or one file of a form (RFC 7578). */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { CatalogueError } from '#domain/errors.ts';
import { FILE_MAX_BYTES } from '#domain/mail/file-limits.ts';
import { fileNameOf, safeFileName } from '#mailstore/files/file-store.ts';

export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Bytes it has at most, as far as that is known before they arrive. */
  readonly atMostBytes: number;
}

const CONTENT_TYPE = /^[A-Za-z0-9!#$&^_.+-]{1,60}\/[A-Za-z0-9!#$&^_.+-]{1,66}$/;
const FORM_TYPE = /^multipart\/form-data\s*;/i;
export const NAME_DEFAULT = 'file';
const OCTETS = 'application/octet-stream';

/** Type without parameters; `application/octet-stream` where it is none. */
function mediaType(given: string | undefined): string {
  const [type = ''] = (given ?? '').split(';');
  return CONTENT_TYPE.test(type.trim()) ? type.trim().toLowerCase() : OCTETS;
}

const shortened = (): CatalogueError =>
  new CatalogueError('invalid_request', 'The body is shorter than announced.', { fix: 'Send the whole file again.' });

/**
 * @param name of the query; before all others
 * @throws {CatalogueError} payload_too_large, unsupported_media_type, invalid_request
 */
export async function uploadedFile(request: IncomingMessage, name: string | undefined): Promise<UploadedFile> {
  const { headers } = request;
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new CatalogueError('unsupported_media_type', 'A body with Content-Encoding is not accepted.', {
      fix: 'Send the file as it is.',
    });
  const announced = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  if (FORM_TYPE.test(headers['content-type'] ?? '')) return fileOfForm(request, name, announced);
  if (announced !== undefined && announced > FILE_MAX_BYTES)
    throw new CatalogueError('payload_too_large', `A file has at most ${FILE_MAX_BYTES} bytes.`, {
      fix: 'Send a smaller file, or a link to it.',
    });
  const disposition = headers['content-disposition'];
  return {
    filename:
      safeFileName(name ?? '') ??
      fileNameOf(disposition && Buffer.from(disposition, 'latin1').toString()) ??
      NAME_DEFAULT,
    contentType: mediaType(headers['content-type']),
    bytes: bytesOf(request, () => request.complete),
    atMostBytes: announced ?? FILE_MAX_BYTES,
  };
}

/** A body as it is. @throws {CatalogueError} unsupported_media_type, and while it is read invalid_request if it is cut */
export function bodyBytes(request: IncomingMessage): AsyncIterable<Uint8Array> {
  const { 'content-encoding': encoding, 'content-type': type } = request.headers;
  if ((encoding !== undefined && encoding !== 'identity') || FORM_TYPE.test(type ?? ''))
    throw new CatalogueError('unsupported_media_type', 'A form, and a body with Content-Encoding, are not accepted.', {
      fix: 'Send the bytes as they are.',
    });
  return bytesOf(request, () => request.complete);
}

/** The connection must outlive a refusal, or the client never reads it. */
async function* bytesOf(source: Readable, isWhole: () => boolean): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw error instanceof CatalogueError ? error : shortened();
  }
  if (!isWhole()) throw shortened();
}

const FORM_FIELDS_MAX = 10;
const FORM_FIELD_MAX_BYTES = 1_000;

const refused = (message: string): CatalogueError =>
  new CatalogueError('invalid_request', message, {
    fix: 'Send a form with one file, such as `curl --form file=@report.pdf`, or the file itself as the body.',
  });

function openForm(request: IncomingMessage): InstanceType<typeof Busboy> {
  const type = request.headers['content-type'] ?? '';
  const limits = { files: 1, fields: FORM_FIELDS_MAX, fieldSize: FORM_FIELD_MAX_BYTES, parts: FORM_FIELDS_MAX + 2 };
  try {
    return new Busboy({ headers: { 'content-type': type }, limits, isPartAFile: (_, __, name) => name !== undefined });
  } catch {
    throw refused('The form has no boundary.');
  }
}

async function fileOfForm(
  request: IncomingMessage,
  name: string | undefined,
  announced: number | undefined,
): Promise<UploadedFile> {
  const form = openForm(request);
  let more = false;
  form.once('filesLimit', () => {
    more = true;
  });
  return new Promise((resolve, reject) => {
    const cut = (error: CatalogueError) => {
      form.destroy();
      reject(error);
    };
    form.once('file', (_, stream, filename, __, type) => {
      let ended = false;
      stream.once('end', () => {
        ended = true;
      });
      form.once('error', () => stream.destroy(refused('The form is damaged.')));
      form.once('close', () => {
        if (!ended) stream.destroy(shortened());
      });
      async function* bytes(): AsyncGenerator<Uint8Array> {
        yield* bytesOf(stream, () => ended);
        // Parts behind it are read to their end: a second file would be lost without a word.
        await finished(form).catch(() => {
          throw shortened();
        });
        if (more) throw refused('The form contains more than one file.');
      }
      resolve({
        filename: safeFileName(name ?? filename) ?? NAME_DEFAULT,
        contentType: mediaType(type),
        bytes: bytes(),
        atMostBytes: Math.min(announced ?? FILE_MAX_BYTES, FILE_MAX_BYTES),
      });
    });
    form.once('finish', () => reject(refused('The form contains no file.')));
    form.once('error', () => cut(refused('The form is damaged.')));
    request.once('close', () => {
      if (!request.complete) cut(shortened());
    });
    request.pipe(form);
  });
}
