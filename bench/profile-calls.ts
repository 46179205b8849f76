/** Calls by which a measured process profiles its main thread. */
import { type Profiler, Session } from 'node:inspector/promises';

const SAMPLING_INTERVAL_US = 500;

export function profileCalls() {
  let session: Session | undefined;
  return {
    async startProfile(): Promise<void> {
      session = new Session();
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
      await session.post('Profiler.start');
    },
    /** The samples since the start; undefined if none was started. */
    async endProfile(): Promise<Profiler.Profile | undefined> {
      const result = await session?.post('Profiler.stop');
      session?.disconnect();
      session = undefined;
      return result?.profile;
    },
  };
}
