/** The process `api`: REST, MCP, documents, and the dispatch of due fan-outs. */

import { startCertificateOrders } from '#core/certificates/acme-orders.ts';
import { startDkimUpkeep } from '#core/mailboxes/dkim-upkeep.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { startChallengeServer } from '#core/process/challenge-server.ts';
import { runPart } from '#core/process/run-part.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { mcpHttp } from '#mcp/http.ts';
import { startDeskNotices } from '#sending/notices/desk-notices.ts';
import { startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { startApi } from './start.ts';

await runPart({
  name: 'api',
  async start(services, life, readiness) {
    const temporal = connectTemporal(services.settings, services.db);
    life.onStop('Temporal connection', () => temporal.close());
    readiness.useTemporal(temporal);
    // Started when the port is known to be free, and closed after the requests have ended.
    const started: { close(): Promise<void> }[] = [];
    life.onStop('dispatcher, sweep of outgoing mail, upkeep of keys', async () => {
      for (const each of started.toReversed()) await each.close();
    });
    const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'an MCP request was refused'));
    const api = await startApi(services, temporal, mcp, readiness);
    life.onStop('API', () => api.close());
    started.push(
      startDispatcher(services, temporal),
      startOutboundSweep(services, temporal),
      startDkimUpkeep(services),
      startDeskNotices(services, (notices) => sendNotices(services, temporal, notices)),
      startCertificateOrders(services),
      await startChallengeServer(services),
    );
    services.log.info({ url: api.url }, 'the API listens');
  },
});
