import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

/** google.rpc.Code: CANCELLED. It is not retried. */
const CANCELLED = 1;

const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());

/**
 * The SDK's retries of calls to Temporal, which end when the connection is closed. The SDK's own retries use a timer,
 * and a connection that was closed meanwhile throws in it, where nobody can catch it: a process that stops while
 * Temporal is unreachable would crash.
 */
export const retryUntilClosed: Interceptor = (options, nextCall) => {
  let first = true;
  return retry(options, (again) => {
    if (first) {
      first = false;
      return nextCall(again);
    }
    try {
      return nextCall(again);
    } catch {
      return cancelledCall();
    }
  });
};

/** A call that ends as soon as it is started. */
function cancelledCall(): Call {
  const nothing = (): void => {};
  return {
    start: (metadata, listener) =>
      listener?.onReceiveStatus?.({ code: CANCELLED, details: 'the connection was closed', metadata }),
    cancelWithStatus: nothing,
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    getPeer: () => 'unknown',
    getAuthContext: () => null,
  };
}
