/**
 * Secrets that this process has just got. n8n stores them some time after a workflow was published: deliveries that
 * arrive before are verified with these.
 */
const KEPT_MS = 60_000;
const secrets = new Map<string, { readonly secret: string; readonly untilMs: number }>();

export function noteNewSecret(key: string, secret: string, nowMs: number = Date.now()): void {
  for (const [other, { untilMs }] of secrets) if (untilMs <= nowMs) secrets.delete(other);
  secrets.set(key, { secret, untilMs: nowMs + KEPT_MS });
}

/** Empty: none in the last minute. */
export function newSecret(key: string, nowMs: number = Date.now()): string {
  const { secret, untilMs } = secrets.get(key) ?? { secret: '', untilMs: 0 };
  return untilMs > nowMs ? secret : '';
}
