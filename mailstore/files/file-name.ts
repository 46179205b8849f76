/** Names of files as strangers and clients give them. */
import { FILE_NAME_MAX_CHARACTERS } from '#domain/mail/file-limits.ts';
import { withoutHidden } from '#domain/mail/text-forms.ts';

/** The last part of a path, on one line, without hidden characters; undefined: nothing is left of it. */
export function safeFileName(given: string): string | undefined {
  const name = withoutHidden(given.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')).toWellFormed();
  const last = name.split(/[\\/]/).at(-1)?.trim() ?? '';
  return Array.from(last).slice(0, FILE_NAME_MAX_CHARACTERS).join('') || undefined;
}

/** The name in a Content-Disposition field: `filename*` before `filename` (RFC 6266 §4.3). */
export function fileNameOf(disposition: string | undefined): string | undefined {
  const [, encoded] = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition ?? '') ?? [];
  const decoded = encoded === undefined ? undefined : decoded8187(encoded);
  if (decoded !== undefined) return safeFileName(decoded);
  const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition ?? '') ?? [];
  return safeFileName(quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
}

function decoded8187(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
