import type { NewAttachment } from './api-types.ts';

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
