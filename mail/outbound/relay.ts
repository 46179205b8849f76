/**
 * Hands mail to a smarthost. What it says about the sender, a recipient or the content is final when it is a 5xx; what
 * it says before (greeting, TLS, login) is about us and never fails a message for good.
 */
import { createTransport } from 'nodemailer';
import { OUTBOUND_GREETING_TIMEOUT_MS, OUTBOUND_SILENCE_TIMEOUT_MS } from '../../domain/outbound.ts';
import type { OutgoingMail, RecipientResult, Transport } from './transport.ts';

export interface RelayOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  /** Of this host, in EHLO. */
  readonly hostname: string;
  /** Further root certificates, PEM. */
  readonly ca?: readonly string[];
  /** How long the other side may be silent after its greeting; default 5 minutes. */
  readonly silenceMs?: number;
}

export function relayTransport({
  url,
  hostname,
  ca,
  silenceMs = OUTBOUND_SILENCE_TIMEOUT_MS,
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
      try {
        const info = await transporter.sendMail({
          envelope: { from: mail.sender, to: [...mail.recipients] },
          raw: mail.bytes,
        });
        return resultsOf(mail, rejections(info), accepted(String(Reflect.get(Object(info), 'response') ?? '')));
      } catch (error) {
        return resultsOf(mail, rejections(error), failure(error));
      }
    },
  };
}

type Said = Omit<RecipientResult, 'address'>;

const resultsOf = (mail: OutgoingMail, rejected: ReadonlyMap<string, Said>, others: Said): RecipientResult[] =>
  mail.recipients.map((address) => ({ address, ...(rejected.get(address.toLowerCase()) ?? others) }));

const accepted = (reply: string): Said => ({ kind: 'sent', code: enhancedCode(reply, '2.0.0'), reply });

/** RFC 3463 code of a reply, else one of its class. */
const enhancedCode = (reply: string, otherwise: string): string =>
  /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(reply)?.[0] ?? otherwise;

/** RCPT refusals, by lower-cased address. */
function rejections(source: unknown): Map<string, Said> {
  const list: unknown = Reflect.get(Object(source), 'rejectedErrors');
  const found = new Map<string, Said>();
  if (!Array.isArray(list)) return found;
  for (const error of list) {
    const recipient: unknown = Reflect.get(Object(error), 'recipient');
    if (typeof recipient === 'string') found.set(recipient.toLowerCase(), failure(error));
  }
  return found;
}

/** Commands whose refusal is about the message. */
const ABOUT_THE_MESSAGE = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

function failure(error: unknown): Said {
  const field = (name: string): unknown => Reflect.get(Object(error), name);
  const status = Number(field('responseCode') ?? 0);
  const response = field('response');
  const reply =
    typeof response === 'string' && response !== '' ? response : error instanceof Error ? error.message : String(error);
  const final = status >= 500 && status < 600 && ABOUT_THE_MESSAGE.has(String(field('command')));
  if (final) return { kind: 'failed', code: enhancedCode(reply, '5.0.0'), reply };
  const code = enhancedCode(reply, status === 0 ? '4.4.1' : '4.0.0');
  return { kind: 'deferred', code: code.replace(/^5/, '4'), reply };
}
