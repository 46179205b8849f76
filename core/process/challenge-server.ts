/**
 * The listener on port 80 while certificates come by ACME: it answers challenges (HTTP-01, RFC 8555 §8.3) and leads
 * everybody else to https://. Challenges are in the database, so any process of the installation may answer.
 *
 * A port that cannot be listened on stops nothing but orders, whose failures then say so.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { certificateNames, challengeAnswer } from '#core/certificates/acme-orders.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { limitConnections } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';

const CONNECTIONS_MAX = 200;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECKED_EVERY_MS = 5_000;
const HEADERS_MAX_BYTES = 8_192;
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{16,256})$/;
const LOCATION_CHARACTERS_MAX = 2_048;

interface ChallengeServer {
  /** Undefined: it does not listen. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** @returns a server that does nothing without ACME, or with ACME_HTTP_PORT=0 */
export async function startChallengeServer({
  db,
  settings,
  log,
}: Pick<Services, 'db' | 'settings' | 'log'>): Promise<ChallengeServer> {
  const nothing = { port: undefined, close: async () => {} };
  if (settings.ACME_DIRECTORY === undefined || settings.ACME_HTTP_PORT === 0) return nothing;
  const names = certificateNames(settings);

  /** Never to a name that is not ours: the sender of a request chooses what its Host says. */
  function redirection(host: string | undefined, path: string): string | undefined {
    const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
    const isOurs = names.includes(name) && path.startsWith('/') && path.length <= LOCATION_CHARACTERS_MAX;
    return isOurs ? new URL(path.replace(/^\/+/, '/'), `https://${name}`).href : undefined;
  }
  const server = createServer(
    {
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKED_EVERY_MS,
      maxHeaderSize: HEADERS_MAX_BYTES,
    },
    (request, response) => {
      const answer = async () => {
        const path = request.url ?? '/';
        response.setHeader('connection', 'close');
        const [, token] = CHALLENGE.exec(path) ?? [];
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        const text = token === undefined || !isRead ? undefined : await challengeAnswer(db, token);
        if (text !== undefined)
          return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(text);
        const location = token === undefined && isRead ? redirection(request.headers.host, path) : undefined;
        if (location === undefined) return void response.writeHead(404).end();
        response.writeHead(308, { location }).end();
      };
      answer().catch((error: unknown) => {
        log.debug({ reason: reasonOf(error) }, 'a challenge could not be answered');
        response.destroy();
      });
    },
  );
  limitConnections(server, CONNECTIONS_MAX);
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(settings.ACME_HTTP_PORT, settings.MAIL_HOST);
  try {
    await once(server, 'listening');
  } catch (error) {
    const facts = { port: settings.ACME_HTTP_PORT, host: settings.MAIL_HOST, reason: reasonOf(error) };
    log.error(facts, 'the listener for challenges of certificates cannot listen: no certificate can be issued');
    return nothing;
  }
  server.on('error', (error) => log.debug({ reason: reasonOf(error) }, 'the listener for challenges'));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : undefined,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
