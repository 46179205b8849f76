import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * Structured log, JSON lines. Credentials, secrets, bodies of messages and of requests are never handed to it; the
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
