import type { ApiError } from '#client/index.ts';

/** Exit codes. A message held for consent is not a failure: 0. */
export const EXIT = {
  ok: 0,
  /** The service refused it, or another error without its own code. */
  failed: 1,
  /** Wrong arguments. */
  usage: 2,
  /** Not logged in, or the token is not valid any more. */
  credential: 3,
  /** No answer, unavailable, or a rate limit: the same command may work later. */
  tryLater: 4,
  notFound: 5,
  /** `mail wait`: nothing arrived in time. */
  nothingCame: 6,
} as const;

/** Wrong use of the command itself, reported like the service's errors. */
export class CommandError extends Error {
  readonly code: string;
  readonly fix: string;
  readonly exitCode: number;
  constructor(code: string, message: string, fix: string, exitCode: number = EXIT.usage) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
    this.fix = fix;
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(error: ApiError): number {
  if (error.status === 401 || error.code === 'invalid_credential') return EXIT.credential;
  if (error.status === 404) return EXIT.notFound;
  const isTransient =
    error.status === 429 || error.status === 503 || error.code === 'unreachable' || error.code === 'timeout';
  if (isTransient) return EXIT.tryLater;
  return error.code === 'invalid_url' ? EXIT.usage : EXIT.failed;
}
