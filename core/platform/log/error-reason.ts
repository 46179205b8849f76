const CAUSES_MAX = 5;

/**
 * The reason in an error, for one log line: its message with those of its causes. Errors of several addresses of one
 * name (AggregateError, whose own message is empty) are joined, and a message that only repeats its cause is written
 * once.
 */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  let each = error;
  for (let depth = 0; each !== undefined && each !== null && depth < CAUSES_MAX; depth++) {
    const text = ownReason(each);
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text);
    each = each instanceof Error ? each.cause : undefined;
  }
  return parts.length === 0 ? 'unknown error' : parts.join(': ');
}

function ownReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message.trim();
  if (!(error instanceof AggregateError)) return own === '' ? codeOf(error) : own;
  const inner = [...new Set(error.errors.map(reasonOf))].join('; ');
  return own === '' ? inner : inner === '' ? own : `${own} (${inner})`;
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
