import type { Settings } from '../../core/settings.ts';
import { captureTransport } from './capture.ts';
import { relayTransport } from './relay.ts';
import type { Transport } from './transport.ts';

/** The transport the settings name. */
export function chooseTransport(settings: Settings): Transport {
  const { OUTBOUND_TRANSPORT, OUTBOUND_RELAY_URL, MAIL_HOSTNAME } = settings;
  if (OUTBOUND_TRANSPORT === 'capture' || OUTBOUND_RELAY_URL === undefined) return captureTransport;
  return relayTransport({ url: OUTBOUND_RELAY_URL, hostname: MAIL_HOSTNAME });
}
