import type { AttemptRecord } from '#db/queries/deliveries/attempts.ts';

/**
 * The result of an attempt in increasingly safe forms, for a row that PostgreSQL refused: without the characters that
 * text and JSON cannot contain (NUL, halves of surrogate pairs), then without the response.
 */
export function storableForms(record: AttemptRecord): readonly AttemptRecord[] {
  const { responseHeaders, lastError } = record;
  return [
    {
      ...record,
      lastError: lastError === null ? null : storableText(lastError),
      responseHeaders:
        responseHeaders === null
          ? null
          : Object.fromEntries(
              Object.entries(responseHeaders).map(([name, value]) => [storableText(name), storableText(value)]),
            ),
    },
    {
      ...record,
      responseHeaders: null,
      responseBody: null,
      remoteAddress: null,
      lastError: record.error,
    },
  ];
}

const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
