/**
 * State shared by the parts of one dispatcher. The rows are authoritative: nothing here must survive the process. All
 * other state is private to each part.
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
