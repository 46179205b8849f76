/**
 * The process `all`: worker, dispatcher, API and mail in one Node process, over one Temporal connection. Only here can
 * a workflow run in the process that starts it (eager start), which saves a single webhook the path through the queue.
 */
import { NativeConnection } from '@temporalio/worker';
import { startApi } from '#api/start.ts';
import { startCertificateOrders } from '#core/certificates/acme-orders.ts';
import { prepareCertificateFiles } from '#core/certificates/certificate-files.ts';
import { startDkimUpkeep } from '#core/mailboxes/dkim-upkeep.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import type { ProcessLife } from '#core/platform/process/process-life.ts';
import type { Services } from '#core/platform/process/services.ts';
import { startChallengeServer } from '#core/process/challenge-server.ts';
import { logStartFindings, openDiagnosis } from '#core/process/diagnosis/diagnose.ts';
import { openMetrics } from '#core/process/expose-metrics.ts';
import { startHealthServer } from '#core/process/health-server.ts';
import { openReadiness } from '#core/process/readiness.ts';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { startMail } from '#mail/start.ts';
import { readCertificate } from '#mail/tls.ts';
import { mcpHttp } from '#mcp/http.ts';
import { startDeskNotices } from '#sending/notices/desk-notices.ts';
import { startOutbound, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { installTemporalRuntime, startWorker } from '#worker/start.ts';
import type { ListenerName } from './service-file.ts';

export interface AllInOne {
  readonly apiUrl: string;
  readonly metricsUrl: string | undefined;
  /** Addresses of the listeners of the mail host. */
  readonly listeners: Partial<Record<ListenerName, { readonly host: string; readonly port: number }>>;
}

/** Opens everything; `life` closes it again, listeners first. */
export async function startAllInOne(services: Services, life: ProcessLife): Promise<AllInOne> {
  const { settings } = services;
  // The mail listeners come last: a wrong certificate must not be found after everything else has started.
  await prepareCertificateFiles(services);
  await readCertificate(settings);
  await logStartFindings(services, services.log);
  installTemporalRuntime(services, settings);
  const connection = await NativeConnection.connect(temporalConnectionOptions(settings));
  life.onStop('Temporal connection', () => connection.close());
  const worker = await startWorker(services, connection);
  life.onStop('worker', () => worker.close());
  worker.ended.catch(life.fail);
  const { temporal } = worker;
  const readiness = openReadiness(services, 'all');
  life.onStop('readiness', () => readiness.close());
  readiness.useTemporal(temporal);
  readiness.useWorker(worker);
  const health = await startHealthServer(
    settings,
    services.log,
    readiness.current,
    openDiagnosis(services, 'all'),
    openMetrics(services, 'all'),
  );
  life.onStop('health server', () => health.close());
  const dispatcher = startDispatcher(services, temporal);
  life.onStop('dispatcher', () => dispatcher.close());
  const outboundSweep = startOutboundSweep(services, temporal);
  life.onStop('sweep of outgoing mail', () => outboundSweep.close());
  const dkimUpkeep = startDkimUpkeep(services);
  life.onStop('upkeep of DKIM keys', () => dkimUpkeep.close());
  const deskNotices = startDeskNotices(services, (notices) => sendNotices(services, temporal, notices));
  life.onStop('notices of the desk', () => deskNotices.close());
  const challenges = await startChallengeServer(services);
  life.onStop('listener for challenges', () => challenges.close());
  const certificateOrders = startCertificateOrders(services);
  life.onStop('orders of certificates', () => certificateOrders.close());
  const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'an MCP request was refused'));
  const api = await startApi(services, temporal, mcp, readiness);
  life.onStop('API', () => api.close());
  const mail = await startMail(services, {
    onSubmitted: (submitted) => void startOutbound(services, temporal, submitted),
    onNotices: (notices) => void sendNotices(services, temporal, notices),
  });
  life.onStop('mail', () => mail.close());
  return { apiUrl: api.url, metricsUrl: health.url, listeners: mail };
}
