import type { Transport } from './transport.ts';

/** Keeps mail for other hosts: it is shown in Sent and in the API as `captured`, and nothing is sent. */
export const captureTransport: Transport = {
  via: 'capture',
  destinationOf: (domain) => domain,
  send: ({ recipients }) =>
    Promise.resolve(
      recipients.map((address) => ({ address, kind: 'captured' as const, code: '2.0.0', reply: 'kept on this host' })),
    ),
};
