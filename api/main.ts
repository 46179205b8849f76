/** The process `api`: REST, MCP, documents, and the dispatch of due fan-outs. */

import { runPart } from '#core/platform/run-part.ts';
import { connectTemporal } from '#core/platform/temporal-client.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { mcpHttp } from '#mcp/http.ts';
import { startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { startApi } from './start.ts';

await runPart({
  name: 'api',
  async start(services, life, readiness) {
    const temporal = connectTemporal(services.settings);
    life.onStop('Temporal connection', () => temporal.close());
    readiness.useTemporal(temporal);
    const dispatcher = startDispatcher(services, temporal);
    life.onStop('dispatcher', () => dispatcher.close());
    const outboundSweep = startOutboundSweep(services, temporal);
    life.onStop('sweep of outgoing mail', () => outboundSweep.close());
    const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'an MCP request was refused'));
    const api = await startApi(services, temporal, mcp, readiness);
    life.onStop('API', () => api.close());
    services.log.info({ url: api.url }, 'the API listens');
  },
});
