/** SQLSTATEs (PostgreSQL appendix A) and socket errors of a database that cannot be reached or is shutting down. */
interface Signs {
  readonly codes: readonly string[];
  /** What the driver says without a code. */
  readonly messages: RegExp;
}

/** Nothing was asked. */
const NOT_REACHED: Signs = {
  codes: [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    '08001', // sqlclient_unable_to_establish_sqlconnection
    '08004', // sqlserver_rejected_establishment_of_sqlconnection
    '53300', // too_many_connections
    '57P03', // cannot_connect_now
  ],
  messages: /^timeout exceeded when trying to connect/,
};
/** The connection broke: what was asked last may have been done. */
const BROKEN: Signs = {
  codes: [
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    '08000', // connection_exception
    '08003', // connection_does_not_exist
    '08006', // connection_failure
    '08007', // transaction_resolution_unknown
    '08P01', // protocol_violation
    '57P01', // admin_shutdown
    '57P02', // crash_shutdown
  ],
  messages: /^(?:Connection terminated|Client has encountered a connection error)/,
};

/** Whether an error says that the database is away, as against a statement that failed. */
export const isDatabaseAway = (error: unknown): boolean => shows(error, NOT_REACHED) || isAnswerLost(error);

/** Whether an error leaves open what became of the last statement, which may have been the commit. */
export const isAnswerLost = (error: unknown): boolean => shows(error, BROKEN);

function shows(error: unknown, signs: Signs): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? each.code : undefined;
    if (typeof code === 'string' && signs.codes.includes(code)) return true;
    if (signs.messages.test(each.message)) return true;
    if (each instanceof AggregateError && each.errors.some((inner) => shows(inner, signs))) return true;
  }
  return false;
}
