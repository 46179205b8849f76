/** The process `worker`: workflows and their activities. */
import path from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { requireTemporal } from '../core/dependencies.ts';
import { runPart } from '../core/run-part.ts';
import { temporalConnectionOptions } from '../core/temporal-client.ts';
import { installTemporalRuntime, startWorker } from './start.ts';

await runPart({
  name: 'worker',
  async start(services, life) {
    const { settings } = services;
    const options = temporalConnectionOptions(settings);
    await requireTemporal(options, settings.TEMPORAL_NAMESPACE);
    installTemporalRuntime(services);
    const connection = await NativeConnection.connect(options);
    life.onStop('Temporal connection', () => connection.close());
    const worker = await startWorker(services, connection, { bundleCache: path.join(settings.DATA_DIR, 'cache') });
    life.onStop('worker', () => worker.close());
    worker.ended.catch(life.fail);
    return worker.temporal;
  },
});
