/**
 * Files to send: those of a mailbox, uploaded once and attached by their id, and small ones inside of a message.
 */

import type { NewAttachment } from './api-types.ts';
import type { CallOptions, HttpTransport } from './http.ts';
import type { OperationCall, PagedList } from './operation-call.ts';
import type { ListFilesQuery, NewUpload, Upload, UploadedFile } from './types.ts';

export interface FileToUpload {
  /** A `Blob` of a file on disk is streamed. */
  readonly content: Blob | Uint8Array<ArrayBuffer>;
  readonly filename: string;
  /** Default: `application/octet-stream`. */
  readonly contentType?: string;
}

/** An upload is given more time than other requests. */
const UPLOAD_EXTRA_MS = 90_000;

/** Every method rejects with `ApiError`. */
export class FilesClient {
  readonly #http: HttpTransport;
  readonly #call: OperationCall;

  constructor(http: HttpTransport, call: OperationCall) {
    this.#http = http;
    this.#call = call;
  }

  async upload({ content, filename, contentType }: FileToUpload, options?: CallOptions): Promise<UploadedFile> {
    const { body } = await this.#http.json<UploadedFile>({
      ...this.#call.request('uploadFile', [], { query: { filename } }),
      raw: { content, contentType: contentType ?? 'application/octet-stream' },
      extraTimeMs: UPLOAD_EXTRA_MS,
      options,
    });
    return body;
  }

  /** An upload URL for a program without a credential. */
  createUpload(upload: NewUpload, options?: CallOptions): Promise<Upload> {
    return this.#call.answer('createUpload', [], { body: upload, options });
  }

  /** Newest first. */
  list(query: ListFilesQuery = {}, options?: CallOptions): PagedList<UploadedFile> {
    return this.#call.list('listFiles', [], { query, options });
  }

  get(id: string, options?: CallOptions): Promise<UploadedFile> {
    return this.#call.answer('getFile', [id], { options });
  }

  /** Messages that it was attached to keep their copy. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    // The second of two would not find it.
    await this.#call.answer('deleteFile', [id], { repeatable: false, options });
  }
}

/** Types that mail programs display; everything else is sent as bytes. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  eml: 'message/rfc822',
  gif: 'image/gif',
  html: 'text/html',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Characters that `String.fromCharCode` takes at once without a risk to the stack. */
const AT_ONCE = 8_192;

/**
 * A small file to send with a message.
 *
 *   attachments: [attachment('contract.pdf', await readFile('contract.pdf'))]
 *
 * @param contentType default: by the ending of the name
 */
export function attachment(filename: string, content: Uint8Array | string, contentType?: string): NewAttachment {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  let characters = '';
  for (let from = 0; from < bytes.length; from += AT_ONCE)
    characters += String.fromCharCode(...bytes.subarray(from, from + AT_ONCE));
  const ending = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  return {
    filename,
    contentType: contentType ?? CONTENT_TYPES[ending] ?? 'application/octet-stream',
    contentBase64: btoa(characters),
  };
}
