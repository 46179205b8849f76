/** The process `api`: REST, MCP, documents, and the dispatch of due fan-outs. */
import { startDispatcher } from '../core/dispatcher.ts';
import { runPart } from '../core/run-part.ts';
import { startOutboundSweep } from '../core/start-outbound.ts';
import { connectTemporal } from '../core/temporal-client.ts';
import { mcpHttp } from '../mcp/http.ts';
import { startApi } from './start.ts';

await runPart({
  name: 'api',
  async start(services, life) {
    const temporal = connectTemporal(services.settings);
    life.onStop('Temporal connection', () => temporal.close());
    const dispatcher = startDispatcher(services, temporal);
    life.onStop('dispatcher', () => dispatcher.close());
    const outboundSweep = startOutboundSweep(services, temporal);
    life.onStop('sweep of outgoing mail', () => outboundSweep.close());
    const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'an MCP request was refused'));
    const api = await startApi(services, temporal, mcp);
    life.onStop('API', () => api.close());
    services.log.info({ url: api.url }, 'the API listens');
    return temporal;
  },
});
