/**
 * What the parts of one dispatcher share. The rows are the truth: none of this must survive the process, and the parts
 * keep whatever else they remember to themselves.
 */
export interface DispatcherState {
  /** Deliveries claimed and not yet through their first attempt. */
  inFlight: number;
  /** Fan-outs started and not ended. */
  openFanOuts: number;
  /** Fan-outs started since one ended. */
  startsWithoutEnd: number;
  /** It stops: nothing is claimed any more, and waits end. */
  closed: boolean;
}

export const newDispatcherState = (): DispatcherState => ({
  inFlight: 0,
  openFanOuts: 0,
  startsWithoutEnd: 0,
  closed: false,
});

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
