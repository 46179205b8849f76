/**
 * Error answers: their one format, and the answers to input that is no HTTP request, or none that is complete in time.
 * Node's parser rejects that before the application sees a request.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { isEngineFault } from '#core/platform/engine/engine-starts.ts';
import { newId } from '#core/platform/new-id.ts';
import { type InfrastructureFault, infrastructureFault } from '#db/infrastructure-error.ts';
import { CatalogueError, type ErrorCode, type ErrorDetail } from '#domain/errors.ts';

/** Body of every error answer. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly fix: string;
    readonly docs: string;
    readonly requestId: string;
    readonly details: readonly ErrorDetail[];
  };
}

/** The answers during database failures, with the seconds for Retry-After. */
const UNAVAILABLE: Readonly<Record<InfrastructureFault, { message: string; fix?: string; retryAfterSeconds: number }>> =
  {
    unreachable: { message: 'The database is not reachable at the moment.', retryAfterSeconds: 5 },
    connection_lost: {
      message: 'The connection to the database was lost. The request may have been carried out or not.',
      fix: 'Wait for the number of seconds in Retry-After, then send it again. Give a POST the same Idempotency-Key, so that it takes effect only once. If a POST had no key, first check whether it took effect.',
      retryAfterSeconds: 5,
    },
    out_of_resources: {
      message: 'The database is out of disk space, memory or another resource of its server.',
      fix: 'Wait for the number of seconds in Retry-After, then send the request again. The operator of this service must free storage.',
      retryAfterSeconds: 30,
    },
    read_only: {
      message: 'The database accepts no changes at the moment: it is read-only.',
      retryAfterSeconds: 30,
    },
    conflict: {
      message: 'Other requests changed or locked the same data for too long.',
      retryAfterSeconds: 1,
    },
  };

/** Any thrown value as a catalogue error: others are internal errors, whose details are not revealed. */
export function asCatalogueError(error: unknown): CatalogueError {
  if (error instanceof CatalogueError) return error;
  if (error instanceof StoreUnavailable)
    return new CatalogueError('unavailable', 'The mail store does not take mail at the moment.', {
      retryAfterSeconds: 5,
    });
  const fault = infrastructureFault(error);
  if (fault === undefined)
    return isEngineFault(error)
      ? new CatalogueError('unavailable', 'Temporal, which runs the workflows, does not take requests at the moment.', {
          retryAfterSeconds: 5,
        })
      : new CatalogueError('internal_error');
  const { message, ...options } = UNAVAILABLE[fault];
  return new CatalogueError('unavailable', message, options);
}

export const errorBody = (error: CatalogueError, requestId: string, publicUrl: string): ErrorBody => ({
  error: {
    code: error.code,
    message: error.message,
    fix: error.fix,
    docs: `${publicUrl}/docs/errors#${error.code}`,
    requestId,
    details: error.details,
  },
});

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

/** The error of Node's parser as an error of the catalogue. */
function catalogueErrorOf(code: unknown): CatalogueError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new CatalogueError('headers_too_large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new CatalogueError('payload_too_large', 'The extensions of a chunk are too long.', {
        fix: 'Send chunks without extensions, or the body with Content-Length.',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new CatalogueError('request_timeout');
    default:
      return new CatalogueError('invalid_request', 'The input is not an HTTP/1.1 request.', {
        fix: 'Check the request line, header fields and body length against RFC 9112. If the client uses TLS, check that the port does too.',
      });
  }
}

/** An error as a whole HTTP answer, after which the connection is closed. */
export function rawAnswer(error: CatalogueError, publicUrl: string): string {
  const requestId = newId('request');
  const body = JSON.stringify(errorBody(error, requestId, publicUrl));
  const fields = [
    `HTTP/1.1 ${error.status} ${REASONS[error.status] ?? 'Error'}`,
    'Connection: close',
    ...(error.retryAfterSeconds === undefined ? [] : [`Retry-After: ${error.retryAfterSeconds}`]),
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${fields.join('\r\n')}\r\n\r\n${body}`;
}

/** Answers input that the parser of the server rejects, in the error format of the API. */
export function answerBrokenRequests(server: Server, publicUrl: () => string): void {
  /** The answer a connection is at. */
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answers.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    // In the middle of another answer it would be read as its content.
    const midst = answer !== undefined && answer.headersSent && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || midst) {
      socket.destroy(error);
      return;
    }
    socket.end(rawAnswer(catalogueErrorOf(error.code), publicUrl()));
  });
}
