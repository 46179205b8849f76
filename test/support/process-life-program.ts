/** A process with the life of `core/platform/process/process-life.ts` and one thing wrong, named by its first argument. */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { createLogger, logDestination } from '#core/platform/log/logger.ts';
import { runProcess } from '#core/platform/process/process-life.ts';

const [scenario = ''] = process.argv.slice(2);
const log = createLogger('info', logDestination(2));
const never = () => new Promise<void>(() => {});
const holdOpen = setInterval(() => {}, 1_000);

await runProcess(
  {
    log: () => log,
    stopWithinMs: () => (scenario === 'deadline' ? 300 : 60_000),
    onStopping(fault) {
      if (fault === undefined) log.info('stopping');
      else log.fatal({ origin: fault.origin, reason: reasonOf(fault.error) }, 'fault');
    },
  },
  async (life) => {
    life.onStop('interval', () => clearInterval(holdOpen));
    if (scenario === 'deadline' || scenario === 'second signal') life.onStop('stuck', never);
    life.onStop('quick', () => {});
    if (scenario === 'fault while stopping')
      life.onStop('faulty', async () => {
        queueMicrotask(() => {
          throw new Error('late fault');
        });
        await new Promise((resolve) => setImmediate(resolve));
      });
    log.info('starting');
    if (scenario === 'start never ends') await never();
    log.info('running');
    if (scenario === 'uncaught')
      setImmediate(() => {
        throw new Error('thrown by nobody in particular', { cause: new Error('the cause') });
      });
    if (scenario === 'rejection without a reason') setImmediate(() => void Promise.reject(undefined));
    if (scenario === 'reported') setImmediate(() => life.fail(new Error('a part ended')));
  },
);
