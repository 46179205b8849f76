import type { Settings } from '#core/platform/settings/settings.ts';
import { mxTransport } from './mx.ts';
import { relayTransport } from './relay.ts';
import type { Transport } from './transport.ts';

/** The transport the settings name. */
export function chooseTransport(settings: Settings): Transport {
  const { OUTBOUND_TRANSPORT, OUTBOUND_RELAY_URL, MAIL_HOSTNAME } = settings;
  if (OUTBOUND_TRANSPORT === 'mx')
    return mxTransport({
      hostname: MAIL_HOSTNAME,
      port: settings.MX_PORT,
      dnsServers: settings.DNS_SERVERS,
      allowDestinations: settings.MX_ALLOW_DESTINATIONS,
      messagesPerMinute: settings.MX_MESSAGES_PER_MINUTE,
    });
  if (OUTBOUND_TRANSPORT === 'capture' || OUTBOUND_RELAY_URL === undefined) return captureTransport;
  return relayTransport({ url: OUTBOUND_RELAY_URL, hostname: MAIL_HOSTNAME });
}

/** Keeps mail for other hosts: it is shown in Sent and in the API as `captured`, and nothing is sent. */
export const captureTransport: Transport = {
  via: 'capture',
  destinationOf: (domain) => domain,
  send: ({ recipients }) =>
    Promise.resolve(
      recipients.map((address) => ({ address, kind: 'captured' as const, code: '2.0.0', reply: 'kept on this host' })),
    ),
};
