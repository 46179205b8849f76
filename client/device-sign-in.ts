import { ApiError } from './api-error.ts';
import type { DeviceSession, DeviceSignIn } from './api-types.ts';
import { type CallOptions, type ClientOptions, HttpTransport, pause } from './http.ts';
import { OperationCall } from './operation-call.ts';

const RATE_LIMITED = 429;
const MIN_WAIT_MS = 1_000;

/** Signing in on a device without a browser (RFC 8628): a person confirms a code on the page of the service. */
export class DeviceSignInClient {
  readonly #call: OperationCall;

  constructor(options: ClientOptions) {
    this.#call = new OperationCall(new HttpTransport(options, {}));
  }

  /** @param name what the person sees, such as the program and the name of the machine */
  begin(name: string, options?: CallOptions): Promise<DeviceSignIn> {
    return this.#call.answer('beginDeviceSignIn', [], { body: { name }, options });
  }

  /** What became of it now; the session once, when it is approved. */
  session(deviceCode: string, options?: CallOptions): Promise<DeviceSession> {
    return this.#call.answer('takeDeviceSession', [], { body: { deviceCode }, options });
  }

  /** Asks until it is decided. @returns the session; or the reason why there is none */
  async wait(begun: DeviceSignIn, options: CallOptions = {}): Promise<DeviceSession> {
    const intervalMs = Math.max(begun.intervalSeconds * 1_000, MIN_WAIT_MS);
    for (;;) {
      await pause(intervalMs, options.signal);
      try {
        const answer = await this.session(begun.deviceCode ?? '', options);
        if (answer.status !== 'pending') return answer;
      } catch (error) {
        // Asked too soon: another wait.
        if (!(error instanceof ApiError && error.status === RATE_LIMITED)) throw error;
      }
    }
  }
}
