/** SQLSTATEs (PostgreSQL appendix A) and socket errors of a database that cannot be reached or is shutting down. */
const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
]);
/** What the driver says without a code. */
const AWAY_MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether an error says that the database is away, as against a statement that failed. */
export function isDatabaseAway(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? each.code : undefined;
    if (typeof code === 'string' && (AWAY_CODES.has(code) || code.startsWith('08'))) return true;
    if (AWAY_MESSAGES.test(each.message)) return true;
    if (each instanceof AggregateError && each.errors.some(isDatabaseAway)) return true;
  }
  return false;
}
