/**
 * Answers to input that is not an HTTP request, or not a complete one in time: Node's parser rejects it before the
 * application sees a request. The answers have the error format of the API.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '#core/platform/new-id.ts';
import { CatalogueError } from '#domain/errors.ts';
import { errorBody } from './error-response.ts';

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
