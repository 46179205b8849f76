/**
 * The small server on METRICS_PORT that every process has: `/healthz`, `/readyz` and `/metrics` (Prometheus). The API
 * process answers the first two on its own port as well; workers and mail processes have no other HTTP.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Logger } from '#core/platform/log/logger.ts';
import { limitConnections } from '#core/platform/process/database-connections.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Finding } from './diagnosis/finding.ts';
import type { ExposedMetrics } from './expose-metrics.ts';
import type { Readiness } from './readiness.ts';

interface HealthServer {
  /** `http://host:port`; undefined when METRICS_PORT is 0. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 100;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECKED_EVERY_MS = 5_000;

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * @param readiness asked on each `/readyz`
 * @param diagnosis asked on `/readyz?verbose`: here alone, since it names what the service is made of
 * @param metrics asked on `/metrics`
 */
export async function startHealthServer(
  settings: Settings,
  log: Logger,
  readiness: () => Promise<Readiness>,
  diagnosis: () => Promise<readonly Finding[]>,
  metrics: () => Promise<ExposedMetrics>,
): Promise<HealthServer> {
  if (settings.METRICS_PORT === 0) return { url: undefined, close: async () => {} };
  const timeouts = {
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECKED_EVERY_MS,
  };
  const server = createServer(timeouts, (request, response) => {
    const answer = async () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      switch (pathname) {
        case '/healthz':
          return sendJson(response, 200, { status: 'ok' });
        case '/readyz': {
          const found = await readiness();
          const body = searchParams.has('verbose') ? { ...found, findings: await diagnosis() } : found;
          return sendJson(response, found.status === 'ready' ? 200 : 503, body);
        }
        case '/metrics': {
          const { contentType, text } = await metrics();
          return void response.writeHead(200, { 'content-type': contentType }).end(text);
        }
        default:
          return sendJson(response, 404, { status: 'there are /healthz, /readyz and /metrics' });
      }
    };
    answer().catch((error: Error) => {
      log.warn({ error: error.message }, 'the health server could not answer');
      response.destroy();
    });
  });
  limitConnections(server, CONNECTIONS_MAX);
  server.listen(settings.METRICS_PORT, settings.API_HOST);
  await once(server, 'listening');
  return {
    url: `http://${settings.API_HOST}:${settings.METRICS_PORT}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
