import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Services } from '../core/services.ts';
import type { TemporalClient } from '../core/temporal-client.ts';
import { openMailNotifier } from '../mail/store/notifier.ts';
import { documentedEvents } from './documented-events.ts';
import { addMailSetup } from './mail-setup.ts';
import { addMcp, type McpEndpoint } from './mcp.ts';
import { addPages } from './pages.ts';
import { routes } from './routes.ts';
import { createApp } from './server.ts';

/** Longer than the idle time of usual proxies in front (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const HEADERS_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Answers under way may finish for this long after a stop was asked for. */
const DRAIN_MS = 10_000;
const CLOSE_IDLE_EVERY_MS = 50;

export interface StartedApi {
  /** Address it listens on, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting, lets answers under way finish, closes what is left. */
  close(): Promise<void>;
}

/**
 * Serves the API on API_HOST and API_PORT.
 *
 * @param mcp what answers at /mcp; closed with the API
 */
export async function startApi(services: Services, temporal: TemporalClient, mcp?: McpEndpoint): Promise<StartedApi> {
  const { API_HOST, API_PORT, API_PUBLIC_URL } = services.settings;
  let url = '';
  const publicUrl = () => API_PUBLIC_URL?.replace(/\/+$/, '') ?? url;
  const notifier = openMailNotifier(services);
  const stopping = new AbortController();
  const context = { services, temporal, notifier, stopping: stopping.signal, publicUrl };
  const app = createApp(routes, context, (router) => {
    addPages(router, routes, documentedEvents, publicUrl);
    addMailSetup(router, services);
    if (mcp !== undefined) addMcp(router, context, mcp, () => server);
  });
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    app.callback(),
  );
  server.listen(API_PORT, API_HOST);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the API has no address');
  const shownHost = ['0.0.0.0', '::'].includes(API_HOST) ? 'localhost' : API_HOST;
  url = `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${address.port}`;
  return {
    url,
    async close() {
      stopping.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Again and again: a connection whose answer ends later is idle only then.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
      const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(force);
      await mcp?.close();
      await notifier.close();
    },
  };
}
