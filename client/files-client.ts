/** Files of a mailbox: uploaded once, attached by their id. */
import type { CallOptions, HttpTransport } from './http.ts';
import type { OperationCall } from './operation-call.ts';
import type { PagedList } from './paged-list.ts';
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
