import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Lines that cannot be written are buffered up to this size, then dropped: a log must not use up the memory. */
const UNWRITTEN_MAX_BYTES = 1024 * 1024;

/**
 * Where log lines are written, each at once: a file, or a file descriptor. A full disk or a closed reader loses lines
 * and never ends the process.
 */
export function logDestination(target: string | number): DestinationStream {
  const destination = pino.destination({ dest: target, sync: true, mode: 0o600, maxLength: UNWRITTEN_MAX_BYTES });
  destination.on('error', () => {}); // The next line is tried again.
  return destination;
}
/**
 * Structured log, JSON lines. Credentials, secrets, bodies of messages and of requests are never passed to it; the
 * redaction here is the second line of defence.
 */
export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: [
          '*.authorization',
          '*["x-organization-key"]',
          '*["x-operator-key"]',
          '*.password',
          '*.token',
          '*.secret',
          '*.apiKey',
        ],
        censor: '[hidden]',
      },
    },
    destination,
  );
}
