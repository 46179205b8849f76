/** The process `worker`: workflows and their activities. */
import { NativeConnection } from '@temporalio/worker';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { requireTemporal } from '#core/platform/engine/temporal-setup.ts';
import { agreedTemporal, isAgreedNamespace, storeAgreedTemporal } from '#core/platform/settings/agreed-settings.ts';
import { runPart } from '#core/process/run-part.ts';
import { installTemporalRuntime, startWorker } from './start.ts';

await runPart({
  name: 'worker',
  async start(services, life, readiness) {
    const { settings } = services;
    const options = temporalConnectionOptions(settings);
    // Temporal may have lost its state since `migrate` created the namespace.
    const mayCreateNamespace = await isAgreedNamespace(services.db, settings);
    const agreed = await agreedTemporal(services.db);
    const found = await requireTemporal(options, settings.TEMPORAL_NAMESPACE, { mayCreateNamespace, agreed });
    const { made, madeNamespace, temporal } = found;
    if (madeNamespace || (agreed !== undefined && agreed.namespaceId !== temporal.namespaceId))
      await storeAgreedTemporal(services.db, temporal);
    if (made.length > 0) services.log.warn({ made }, 'made what Temporal lacked');
    installTemporalRuntime(services, settings);
    const connection = await NativeConnection.connect(options);
    life.onStop('Temporal connection', () => connection.close());
    const worker = await startWorker(services, connection);
    life.onStop('worker', () => worker.close());
    worker.ended.catch(life.fail);
    readiness.useTemporal(worker.temporal);
    readiness.useWorker(worker);
  },
});
