/**
 * Hands mail to a smarthost. What it says about the sender, a recipient or the content is final when it is a 5xx; what
 * it says before (greeting, TLS, login) is about us and never fails a message for good.
 */
import { createTransport } from 'nodemailer';
import {
  OUTBOUND_GREETING_TIMEOUT_MS,
  OUTBOUND_SESSION_MAX_MS,
  OUTBOUND_SILENCE_TIMEOUT_MS,
} from '../../domain/outbound.ts';
import { accepted, dsnOf, failure, rejections, resultsOf, tookTooLong } from './smtp-outcome.ts';
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
  const transporter = createTransport({
    host: relay.hostname.replace(/^\[|\]$/g, ''),
    port: Number(relay.port || (secure ? 465 : 587)),
    secure,
    name: hostname,
    ...(relay.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(relay.username), pass: decodeURIComponent(relay.password) } }),
    // A password is never sent in the clear.
    requireTLS: !secure && relay.username !== '',
    connectionTimeout: OUTBOUND_GREETING_TIMEOUT_MS,
    greetingTimeout: Math.min(OUTBOUND_GREETING_TIMEOUT_MS, silenceMs),
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca === undefined ? {} : { tls: { ca: [...ca] } }),
  });
  return {
    via: 'relay',
    destinationOf: () => relay.host,
    async send(mail) {
      const signal = AbortSignal.timeout(sessionMs);
      try {
        const info = await transporter.sendMail({
          envelope: { from: mail.sender, to: [...mail.recipients] },
          raw: mail.bytes,
          dsn: dsnOf(mail),
          signal,
        });
        return resultsOf(mail, rejections(info), accepted(info));
      } catch (error) {
        return resultsOf(mail, rejections(error), signal.aborted ? tookTooLong(sessionMs) : failure(error));
      }
    },
  };
}
