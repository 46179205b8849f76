/**
 * Which transport a message is sent by, and the relay among them: it hands mail to a smarthost. What that says about the
 * sender, a recipient or the content is final when it is a 5xx; what it says before (greeting, TLS, login) is about us and
 * never fails a message for good.
 */

import type { Settings } from '#core/platform/settings/settings.ts';
import { OUTBOUND_SESSION_MAX_MS, OUTBOUND_SILENCE_TIMEOUT_MS } from '#domain/sending/outbound.ts';
import { mxTransport } from './mx.ts';
import { NOT_ANY_MORE, resultsOf } from './smtp-outcome.ts';
import { type SmtpSession, smtpSession } from './smtp-session.ts';
import type { Transport } from './transport.ts';

export interface RelayOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  /** Of this host, in EHLO. */
  readonly hostname: string;
  /** Further root certificates, PEM. */
  readonly ca?: readonly string[];
  /** How long the other side may be silent after its greeting; default 5 minutes. */
  readonly silenceMs?: number;
  /** How long one session may take; default 15 minutes. */
  readonly sessionMs?: number;
}

export function relayTransport({
  url,
  hostname,
  ca,
  silenceMs = OUTBOUND_SILENCE_TIMEOUT_MS,
  sessionMs = OUTBOUND_SESSION_MAX_MS,
}: RelayOptions): Transport {
  const relay = new URL(url);
  const secure = relay.protocol === 'smtps:';
  const host = relay.hostname.replace(/^\[|\]$/g, '');
  const login =
    relay.username === ''
      ? undefined
      : { user: decodeURIComponent(relay.username), pass: decodeURIComponent(relay.password) };
  const session: SmtpSession = {
    host,
    address: host,
    port: Number(relay.port || (secure ? 465 : 587)),
    hostname,
    // A password is never sent in the clear.
    tls: secure ? 'implicit' : login === undefined ? 'checked' : 'verified',
    login,
    ca,
    silenceMs,
    sessionMs,
  };
  return {
    via: 'relay',
    destinationOf: () => relay.host,
    async send(mail) {
      if ((await mail.mayBegin?.()) === false) return resultsOf(mail, new Map(), NOT_ANY_MORE);
      const end = await smtpSession(session, mail);
      return end.asked ? end.results : resultsOf(mail, new Map(), end.failure);
    },
  };
}

/** The transport the settings name. */
export function chooseTransport(settings: Settings): Transport {
  const { OUTBOUND_TRANSPORT, OUTBOUND_RELAY_URL, MAIL_HOSTNAME } = settings;
  if (OUTBOUND_TRANSPORT === 'mx')
    return mxTransport({
      hostname: MAIL_HOSTNAME,
      port: settings.MX_PORT,
      dnsServers: settings.DNS_SERVERS,
      dane: settings.OUTBOUND_DANE === 'on',
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
