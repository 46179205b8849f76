/**
 * The process `all`: worker, dispatcher, API and mail in one Node process, over one Temporal connection. Only here can
 * a workflow begin in the process that starts it (eager start), which saves a lone webhook its way through the queue.
 */
import path from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { startApi } from '../api/start.ts';
import { startDispatcher } from '../core/dispatcher.ts';
import { startHealthServer } from '../core/health-server.ts';
import type { ProcessLife } from '../core/process-life.ts';
import { readiness } from '../core/readiness.ts';
import type { Services } from '../core/services.ts';
import { startOutbound, startOutboundSweep } from '../core/start-outbound.ts';
import { temporalConnectionOptions } from '../core/temporal-client.ts';
import { startMail } from '../mail/start.ts';
import { mcpHttp } from '../mcp/http.ts';
import { installTemporalRuntime, startWorker } from '../worker/start.ts';
import type { DoorName } from './service-file.ts';

export interface AllInOne {
  readonly apiUrl: string;
  readonly metricsUrl: string | undefined;
  /** Where the doors of the mail host listen. */
  readonly doors: Partial<Record<DoorName, { readonly host: string; readonly port: number }>>;
}

/** Opens everything; what it opened is closed by `life`, doors first. */
export async function startAllInOne(services: Services, life: ProcessLife): Promise<AllInOne> {
  const { settings } = services;
  installTemporalRuntime(services);
  const connection = await NativeConnection.connect(temporalConnectionOptions(settings));
  life.onStop('Temporal connection', () => connection.close());
  const worker = await startWorker(services, connection, { bundleCache: path.join(settings.DATA_DIR, 'cache') });
  life.onStop('worker', () => worker.close());
  worker.ended.catch(life.fail);
  const { temporal } = worker;
  const health = await startHealthServer(settings, services.log, () => readiness(services, temporal));
  life.onStop('health server', () => health.close());
  const dispatcher = startDispatcher(services, temporal);
  life.onStop('dispatcher', () => dispatcher.close());
  const outboundSweep = startOutboundSweep(services, temporal);
  life.onStop('sweep of outgoing mail', () => outboundSweep.close());
  const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'an MCP request was refused'));
  const api = await startApi(services, temporal, mcp);
  life.onStop('API', () => api.close());
  const mail = await startMail(services, {
    onSubmitted: (submitted) => void startOutbound(services, temporal, submitted),
  });
  life.onStop('mail', () => mail.close());
  return { apiUrl: api.url, metricsUrl: health.url, doors: mail };
}
