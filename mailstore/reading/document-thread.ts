/** The thread in which one document is read. It has no connections and no secrets, and may be ended at any time. */
import { parentPort } from 'node:worker_threads';
import {
  type DocumentFacts,
  DocumentProblem,
  type DocumentProblemKind,
  type TextPage,
} from '#mime/documents/document-kind.ts';
import { documentPage } from '#mime/documents/document-text.ts';

export interface DocumentJob {
  readonly bytes: Uint8Array;
  readonly facts: DocumentFacts;
  readonly offset: number;
  readonly limit: number;
}

export type DocumentAnswer =
  | { readonly ok: true; readonly page: TextPage }
  | { readonly ok: false; readonly kind: DocumentProblemKind; readonly detail: string };

parentPort?.once('message', async ({ bytes, facts, offset, limit }: DocumentJob) => {
  parentPort?.postMessage(await read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));

  async function read(document: Buffer): Promise<DocumentAnswer> {
    try {
      return { ok: true, page: await documentPage(document, facts, offset, limit) };
    } catch (error) {
      if (error instanceof DocumentProblem) return { ok: false, kind: error.kind, detail: error.message };
      // Any error of a parser means that it could not read the bytes.
      return { ok: false, kind: 'damaged', detail: 'The document is damaged.' };
    }
  }
});
