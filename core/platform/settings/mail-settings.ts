/** Settings of mail: listeners, connections, TLS, DNS, and sending to other hosts. */
import { CLIENT_CONNECTIONS_PER_SOURCE_MAX, SMTP_CONNECTIONS_PER_SOURCE_MAX } from '#domain/mail/mail-limits.ts';
import {
  capabilityHiding,
  choice,
  cidrs,
  integer,
  list,
  milliseconds,
  port,
  type Setting,
  setting,
  text,
  url,
} from './setting-forms.ts';

export const MAIL_SETTINGS = {
  MAIL_DOMAIN: setting(text, {
    group: 'Mail',
    fallback: 'agents.localhost',
    text: 'Domain of mailboxes that are created without one.',
  }),
  MAIL_HOST: setting(text, {
    group: 'Mail',
    fallback: '127.0.0.1',
    text: 'Address the mail listeners bind to.',
  }),
  MAIL_HOSTNAME: setting(text, {
    group: 'Mail',
    fallback: 'localhost',
    text: 'Name of this mail host: in the greeting, in Received and Authentication-Results, and for clients’ set-up. Its certificate must match.',
  }),
  SMTP_PORT: setting(port, {
    group: 'Mail',
    fallback: '2525',
    text: 'Port of inbound SMTP (mapped to 25 by compose).',
  }),
  SUBMISSIONS_PORT: setting(port, {
    group: 'Mail',
    fallback: '1465',
    text: 'Port of submission by TLS from the first byte (mapped to 465 by compose).',
  }),
  SUBMISSION_PORT: setting(port, {
    group: 'Mail',
    fallback: '1587',
    text: 'Port of submission with STARTTLS (mapped to 587 by compose).',
  }),
  MAIL_PUBLIC_SUBMISSION_PORT: setting(port, {
    group: 'Mail',
    text: 'Submission port (TLS from the first byte) that clients are configured with. Unset: SUBMISSIONS_PORT.',
  }),
  MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT: setting(port, {
    group: 'Mail',
    text: 'Submission port with STARTTLS that clients find by DNS. Unset: SUBMISSION_PORT.',
  }),
  IMAPS_PORT: setting(port, {
    group: 'Mail',
    fallback: '1993',
    text: 'Port of IMAP by TLS from the first byte (mapped to 993 by compose).',
  }),
  IMAP_PORT: setting(port, {
    group: 'Mail',
    fallback: '1143',
    text: 'Port of IMAP with STARTTLS (mapped to 143 by compose).',
  }),
  MAIL_PUBLIC_IMAP_PORT: setting(port, {
    group: 'Mail',
    text: 'IMAP port (TLS from the first byte) that clients are configured with. Unset: IMAPS_PORT.',
  }),
  POP3S_PORT: setting(port, {
    group: 'Mail',
    fallback: '1995',
    text: 'Port of POP3 by TLS from the first byte (mapped to 995 by compose).',
  }),
  POP3_PORT: setting(port, {
    group: 'Mail',
    fallback: '1110',
    text: 'Port of POP3 with STLS (mapped to 110 by compose).',
  }),
  MAIL_PUBLIC_POP3_PORT: setting(port, {
    group: 'Mail',
    text: 'POP3 port (TLS from the first byte) that clients are configured with. Unset: POP3S_PORT.',
  }),
  MAIL_PROXY_FROM: setting(cidrs, {
    group: 'Mail',
    fallback: '',
    text: 'CIDR ranges of TCP proxies in front of the mail listeners. Connections from there must start with a PROXY protocol header (version 1 or 2), which contains the address of the client; from other addresses such a header is not accepted.',
  }),
  IMAP_HIDE_CAPABILITIES: setting(capabilityHiding, {
    group: 'Mail',
    fallback: '',
    text: 'IMAP capabilities that are not announced to clients that have problems with them, such as `Old Mail*: QRESYNC CONDSTORE; *: COMPRESS=DEFLATE`. The client is the `name` of its ID command; `*` alone is every client, also before ID and without it. Commands of a hidden capability still work. When to change: a client fails with the capability, and works without it.',
  }),
  SMTP_MAX_CLIENTS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: '1000',
    text: 'Concurrent inbound SMTP connections in this process; further ones are answered 421.',
  }),
  SMTP_CLIENTS_PER_ADDRESS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: String(SMTP_CONNECTIONS_PER_SOURCE_MAX),
    text: 'Inbound SMTP connections of one address (IPv6: of a /64) at the same time in this process; further ones are answered 421.',
  }),
  SUBMISSION_MAX_CLIENTS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: '1000',
    text: 'Submission connections at the same time in this process, both ports together; further ones are answered 421.',
  }),
  IMAP_MAX_CLIENTS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: '5000',
    text: 'IMAP connections at the same time in this process, both ports together; further ones are answered BYE.',
  }),
  POP3_MAX_CLIENTS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: '1000',
    text: 'POP3 connections at the same time in this process, both ports together; further ones are answered -ERR.',
  }),
  MAIL_CLIENTS_PER_ADDRESS: setting(integer(1, 100_000), {
    group: 'Mail',
    fallback: String(CLIENT_CONNECTIONS_PER_SOURCE_MAX),
    text: 'Connections of one address (IPv6: of a /64) at the same time in this process: to IMAP and POP3 together, and to submission. When to change: many agents on one host or behind one NAT.',
  }),
  TLS_CERT: setting(text, {
    group: 'Mail',
    text: 'File with the PEM certificate chain of MAIL_HOSTNAME. Unset: a development certificate made in `DATA_DIR/tls`.',
  }),
  TLS_KEY: setting(text, { group: 'Mail', text: 'File with the PEM private key of TLS_CERT.' }),
  DNS_SERVERS: setting(list, {
    group: 'Mail',
    fallback: '',
    text: 'Resolvers for SPF, DKIM, DMARC, domain verification, webhook destinations and mail hosts, as `address` or `address:port`. Empty: those of the system.',
  }),
  OUTBOUND_TRANSPORT: setting(choice('capture', 'relay', 'mx'), {
    group: 'Mail',
    fallback: 'capture',
    text: 'How mail is sent to other hosts. `capture` stores it: nothing is sent, every recipient ends as `captured`. `relay` sends it to OUTBOUND_RELAY_URL. `mx` sends it directly to the mail hosts of each domain.',
  }),
  OUTBOUND_RELAY_URL: setting(url('smtp:', 'smtps:'), {
    group: 'Mail',
    secret: true,
    text: 'The smarthost, as `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`; user and password in percent-encoding.',
  }),
  MX_PORT: setting(integer(1, 65_535), {
    group: 'Mail',
    fallback: '25',
    text: 'Port of the mail hosts that the transport `mx` connects to. Values other than 25 are for tests.',
  }),
  MX_MESSAGES_PER_MINUTE: setting(integer(1, 1_000_000), {
    group: 'Mail',
    fallback: '300',
    text: 'Messages that the transport `mx` sends to one domain in a minute, per process; a burst of 20 is allowed. A message that would wait longer than 30 s is deferred to its next attempt. Lower it while the address of the host is new to receivers.',
  }),
  MX_ALLOW_DESTINATIONS: setting(cidrs, {
    group: 'Mail',
    fallback: '',
    text: 'CIDR ranges that count as publicly routable for the transport `mx`, for development and tests. Refused in production.',
  }),
  OUTBOUND_RETRY_DELAYS_MS: setting(milliseconds, {
    group: 'Mail',
    fallback: '',
    text: 'Waits between attempts to send in milliseconds, the last one repeated, for development and tests. Empty: 1, 5, 15 min, 1, 2, 4 h. Refused in production.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
