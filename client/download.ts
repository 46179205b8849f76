import type { HttpRequest, HttpTransport } from './http.ts';

/** Bytes of a download, with the data of its headers. */
export interface Download {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly filename: string | null;
}

/** @throws {ApiError} */
export async function downloadOf(http: HttpTransport, request: HttpRequest): Promise<Download> {
  const { bytes, headers } = await http.bytes(request);
  return {
    bytes,
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    filename: filenameOf(headers.get('content-disposition')),
  };
}

/** The name in UTF-8 (RFC 6266, RFC 8187), without any folder it might carry. */
function filenameOf(disposition: string | null): string | null {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '') ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded).split(/[\\/]/).at(-1) || null;
  } catch {
    return null;
  }
}
