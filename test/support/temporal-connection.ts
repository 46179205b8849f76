import { NativeConnection } from '@temporalio/worker';
import { installTemporalRuntime } from '#worker/start.ts';
import { testLog, testTemporalAddress } from './services.ts';

let isInstalled = false;

/** Sets the SDK's runtime up. It is one per process, and test files share processes. */
export function useTemporalRuntime(): void {
  if (!isInstalled) installTemporalRuntime({ log: testLog() });
  isInstalled = true;
}

/** A connection of one's own for workers, to the shared Temporal server. */
export function temporalConnection(): Promise<NativeConnection> {
  useTemporalRuntime();
  return NativeConnection.connect({ address: testTemporalAddress() });
}
