/** The API process of the measurement of idle streams. Nothing it serves here asks Temporal. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { startApi } from '#api/start.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { openServices } from '#core/platform/process/services.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import { answerCalls } from './child-calls.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const settings = readSettings(process.env);
const services = await openServices(settings, createLogger('error', pino.destination({ dest: 2, sync: true })));
const temporal = connectTemporal(settings);
const api = await startApi(services, temporal);

const calls = {
  url: async () => api.url,
  /** Bytes after two collections, and processor time in milliseconds. */
  used: async () => {
    collectGarbage();
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return { rss, heapUsed, cpuMs: (user + system) / 1_000 };
  },
};
export type StreamApiCalls = typeof calls;
answerCalls(calls, async () => {
  await api.close();
  await temporal.close();
  await services.close();
});
