import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { openServerContexts } from '#core/certificates/server-contexts.ts';
import { notePublicAddress } from '#core/platform/addresses/service-url.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { CONNECTIONS_RETRY_AFTER_SECONDS, limitConnections } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import { openReadiness, type ReadinessMonitor } from '#core/process/readiness.ts';
import { CatalogueError } from '#domain/errors.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { loadCommandRules } from '#mailstore/reading/command-rules-file.ts';
import { addDocumentation } from './documents/built-files.ts';
import { addDashboard } from './documents/dashboard-files.ts';
import { addDocuments } from './documents/serve-documents.ts';
import { answerBrokenRequests, rawAnswer } from './http/error-response.ts';
import { addMailSetup } from './mail-setup.ts';
import { addMcp, type McpEndpoint } from './mcp.ts';
import { addMtaSts } from './mta-sts.ts';
import { addOAuth } from './oauth/protocol.ts';
import { addReceiver } from './receiver/routes.ts';
import { routes } from './routes.ts';
import { createApp } from './server.ts';
import { webhookEvents } from './webhooks/event-schemas.ts';

/** Longer than the idle time of usual proxies in front (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const HEADERS_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Of all header fields of a request together; more is answered 431. */
const HEADERS_MAX_BYTES = 16_384;
/** How often connections are checked for timeouts. */
const TIMEOUTS_CHECKED_EVERY_MS = 5_000;
/** Nothing was sent or read for this long: longer than a long poll waits and than streams are silent. */
const IDLE_TIMEOUT_MS = 180_000;
/** One line of the log for all connections refused in this time. */
const REFUSED_LOGGED_EVERY_MS = 10_000;
/** Answers in progress may finish within this time after a stop was requested. */
const DRAIN_MS = 10_000;
const CLOSE_IDLE_EVERY_MS = 50;

const tooManyConnections = (): CatalogueError =>
  new CatalogueError('unavailable', 'Too many connections are open.', {
    retryAfterSeconds: CONNECTIONS_RETRY_AFTER_SECONDS,
  });

export interface StartedApi {
  /** Address it listens on, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting, lets answers in progress finish, closes the rest. */
  close(): Promise<void>;
}

/**
 * Serves the API on API_HOST and API_PORT, and by TLS on API_TLS_PORT.
 *
 * @param mcp the server for /mcp; closed with the API
 * @param monitor the monitor for /readyz, if the process has one; otherwise one for the API alone
 */
export async function startApi(
  services: Services,
  temporal: TemporalClient,
  mcp?: McpEndpoint,
  monitor?: ReadinessMonitor,
): Promise<StartedApi> {
  const { API_HOST, API_PORT, API_TLS_PORT, API_PUBLIC_URL, API_CONNECTIONS_MAX, MAIL_HOST } = services.settings;
  loadCommandRules(services.settings.COMMAND_RULES);
  let url = '';
  const publicUrl = () => API_PUBLIC_URL?.replace(/\/+$/, '') ?? url;
  const notifier = openMailNotifier(services);
  const stopping = new AbortController();
  const readiness = monitor ?? openReadiness(services, 'api');
  if (monitor === undefined) readiness.useTemporal(temporal);
  const context = { services, temporal, notifier, readiness, stopping: stopping.signal, publicUrl };
  const app = createApp(routes, context, (router) => {
    addDocuments(router, routes, webhookEvents, publicUrl);
    addDocumentation(router);
    addDashboard(router);
    addMailSetup(router, services);
    addMtaSts(router, services);
    addReceiver(router, services);
    addOAuth(router, context);
    if (mcp !== undefined) addMcp(router, context, mcp, () => server);
  });
  const httpOptions = {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
    maxHeaderSize: HEADERS_MAX_BYTES,
    // The application answers it, as all errors.
    requireHostHeader: false,
  };
  const server = createServer(httpOptions, app.callback());
  const contexts = API_TLS_PORT === 0 ? undefined : await openServerContexts(services);
  const secured =
    contexts === undefined ? undefined : createHttpsServer({ ...httpOptions, ...contexts.options }, app.callback());
  const servers = secured === undefined ? [server] : [server, secured];
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const onRefused = (): void => {
    if (performance.now() < loggedAtMs + REFUSED_LOGGED_EVERY_MS) return;
    loggedAtMs = performance.now();
    services.log.warn({ max: API_CONNECTIONS_MAX }, 'connections are refused: API_CONNECTIONS_MAX are open');
  };
  const sockets = new Set<Socket>();
  for (const each of servers) {
    each.setTimeout(IDLE_TIMEOUT_MS);
    limitConnections(each, API_CONNECTIONS_MAX, onRefused, () => rawAnswer(tooManyConnections(), publicUrl()));
    answerBrokenRequests(each, publicUrl);
    each.on(each === secured ? 'secureConnection' : 'connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  }
  server.listen(API_PORT, API_HOST);
  await once(server, 'listening');
  if (secured !== undefined) {
    secured.listen(API_TLS_PORT, MAIL_HOST);
    await once(secured, 'listening');
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the API has no address');
  const shownHost = ['0.0.0.0', '::'].includes(API_HOST) ? 'localhost' : API_HOST;
  url = `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${address.port}`;
  const noted = notePublicAddress(services.db, publicUrl()).catch((error: unknown) => {
    // If it differs, the next start stores it.
    services.log.warn(
      { reason: reasonOf(error) },
      'the address of the API could not be stored for the links of notices',
    );
  });
  return {
    url,
    async close() {
      stopping.abort();
      await noted;
      const closed = Promise.all(servers.map((each) => new Promise<void>((resolve) => each.close(() => resolve()))));
      // Repeatedly: a connection becomes idle only after its answer. A connection that never sent anything (browsers
      // open such connections in advance) does not count as idle.
      const closeIdle = () => {
        for (const each of servers) each.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      };
      const idle = setInterval(closeIdle, CLOSE_IDLE_EVERY_MS);
      const force = setTimeout(() => {
        for (const each of servers) each.closeAllConnections();
      }, DRAIN_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(force);
      await contexts?.close();
      await mcp?.close();
      await notifier.close();
      if (monitor === undefined) await readiness.close();
    },
  };
}
