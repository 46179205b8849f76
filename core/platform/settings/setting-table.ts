/**
 * All settings of the service. `docs/configuration.md` is generated from this table (`npm run generate`), and a wrong value
 * makes the start fail with the setting's name and the values it accepts.
 */

import { BLOB_STORES } from '#domain/mail/blob-storage.ts';
import { CLIENT_CONNECTIONS_PER_SOURCE_MAX, SMTP_CONNECTIONS_PER_SOURCE_MAX } from '#domain/mail/mail-limits.ts';
import { AUDIT_RETENTION_DAYS_DEFAULT, SENT_MAIL_RETENTION_DAYS_DEFAULT } from '#domain/retention.ts';
import { OUTBOUND_CONTENT_RETENTION_DAYS } from '#domain/sending/outbound.ts';
import {
  capabilityHiding,
  choice,
  cidrs,
  flag,
  fourWaits,
  inGroup,
  integer,
  list,
  milliseconds,
  password,
  port,
  secretBytes,
  secretKeys,
  setting,
  text,
  url,
} from './setting-forms.ts';

export const SETTINGS = {
  ...inGroup('Process', {
    MODE: setting(choice('development', 'production'), {
      fallback: 'development',
      text: 'In `production` the service refuses development conveniences: generated secrets, WEBHOOK_ALLOW_DESTINATIONS and WEBHOOK_EXTRA_CA.',
    }),
    DATA_DIR: setting(text, {
      fallback: '.data',
      text: 'Folder for everything `npm start` stores: embedded PostgreSQL, Temporal, secrets, certificates, `service.json`.',
    }),
    IMPORT_PRIVATE_HOSTS: setting(choice('on', 'off'), {
      fallback: 'off',
      text: 'Whether operators may import mail over HTTP from IMAP servers in private networks. `off`: from publicly routable hosts only. The command `import --imap` is not limited.',
    }),
    LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
      fallback: 'info',
      text: 'Least severe log line that is written. Logs are JSON lines on standard error; `npm start` writes them to `DATA_DIR/service.log`.',
    }),
    METRICS_PORT: setting(port, {
      fallback: '9464',
      text: 'Port of `/metrics` (Prometheus), `/healthz` and `/readyz` of each process, on API_HOST; `/readyz?verbose` is only here and adds what `agent-mailbox-admin doctor` finds. 0 switches it off, and with it the HEALTHCHECK of the image.',
    }),
    TEMPORAL_METRICS_PORT: setting(port, {
      fallback: '0',
      text: 'Port of the metrics of Temporal’s SDK (Prometheus, `/metrics`) in processes with a worker, on API_HOST if that is an address, otherwise on 127.0.0.1. 0 switches it off.',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: setting(url('http:', 'https:'), {
      text: 'Address of an OpenTelemetry receiver (OTLP over HTTP, JSON), such as `http://collector:4318`: then every process sends traces there. Unset: no traces, and no SDK of OpenTelemetry is loaded. Further variables of that standard: docs/operations/traces.md.',
    }),
    OTEL_EXPORTER_OTLP_HEADERS: setting(text, {
      secret: true,
      text: 'Header fields of requests to that receiver, such as `authorization=Bearer%20…`, separated by commas.',
    }),
    OTEL_TRACES_SAMPLER_ARG: setting(text, {
      text: 'Part of the traces that is sent, from 0 to 1. Unset: all.',
    }),
    OTEL_RESOURCE_ATTRIBUTES: setting(text, {
      text: 'Attributes of the process in traces, such as `deployment.environment.name=production`, separated by commas.',
    }),
    TRACE_ADDRESSES: setting(flag, {
      fallback: 'false',
      text: 'Put addresses of senders and recipients into traces.',
    }),
    SHUTDOWN_DEADLINE_SECONDS: setting(integer(1, 600), {
      fallback: '40',
      text: 'Seconds that stopping may take in total after SIGTERM or SIGINT. Until then, requests, mail and attempts in flight may finish. After that, the process ends with exit code 1 and a log line that lists what was still open. Keep it below the time after which your supervisor kills the process (`stop_grace_period`, `terminationGracePeriodSeconds`).',
    }),
    AUDIT_RETENTION_DAYS: setting(integer(30, 36_500), {
      fallback: String(AUDIT_RETENTION_DAYS_DEFAULT),
      text: 'Days that entries of the audit log are kept. Read by the worker. Change it if your rules of evidence and privacy require it.',
    }),
    SENT_MAIL_RETENTION_DAYS: setting(integer(OUTBOUND_CONTENT_RETENTION_DAYS, 36_500), {
      fallback: String(SENT_MAIL_RETENTION_DAYS_DEFAULT),
      text: 'Days that the status of a sent message is kept after its last recipient is final: recipients, attempts and consent. It does not affect the copy in Sent, which is mail. Read by the worker.',
    }),
    OWNER_EMAIL: setting(text, {
      text: 'Sign-in address of the owner of the first organization. Unset: owner@MAIL_DOMAIN. Read only while there is no organization.',
    }),
    OWNER_PASSWORD: setting(password, {
      secret: true,
      text: 'Password of that owner. Unset: a random one, shown by the start or migration that creates the organization.',
    }),
  }),
  ...inGroup('PostgreSQL', {
    DATABASE_URL: setting(url('postgres:', 'postgresql:'), {
      secret: true,
      text: 'PostgreSQL 15 or later. Unset: `npm start` runs its own embedded PostgreSQL 18; single processes need it.',
    }),
    DATABASE_POOL_MAX: setting(integer(2, 500), {
      fallback: '20',
      text: 'Connections per process. In addition, a worker opens six, an API process four, a mail process one, and `npm start` nine. `/readyz` warns when all processes together may open more than the server’s max_connections allows.',
    }),
    POSTGRES_PORT: setting(port, {
      fallback: '54320',
      text: 'Port of the embedded PostgreSQL. Not used with DATABASE_URL.',
    }),
  }),
  ...inGroup('Temporal', {
    TEMPORAL_ADDRESS: setting(text, {
      text: 'Address `host:port` of a Temporal frontend. Unset: `npm start` runs its own development server; single processes need it.',
    }),
    TEMPORAL_NAMESPACE: setting(text, { fallback: 'default', text: 'Namespace of the workflows.' }),
    TEMPORAL_API_KEY: setting(text, { secret: true, text: 'API key of Temporal Cloud. Implies TLS.' }),
    TEMPORAL_TLS: setting(flag, { fallback: 'false', text: 'Connect to Temporal by TLS.' }),
    TEMPORAL_TASK_QUEUE: setting(text, {
      fallback: 'agent-mailbox',
      text: 'Task queue of the workers. Change it when several installations share a namespace.',
    }),
    TEMPORAL_UI_URL: setting(url('http:', 'https:'), {
      text: 'Address of the Temporal UI, shown and linked to. Unset: that of the development server, if it was started.',
    }),
    TEMPORAL_CLI: setting(text, {
      text: 'Path of the `temporal` program for the development server. Unset: the one on PATH, in the cache, or downloaded.',
    }),
    TEMPORAL_PORT: setting(port, {
      fallback: '7233',
      text: 'Port of the development server; its UI listens on this plus 1000. Not used with TEMPORAL_ADDRESS.',
    }),
  }),
  ...inGroup('API', {
    API_HOST: setting(text, {
      fallback: '127.0.0.1',
      text: 'Address the API and metrics listen on. `0.0.0.0` in containers, behind a TLS-terminating proxy.',
    }),
    API_PORT: setting(port, { fallback: '8080', text: 'Port of REST API, documents and dashboard.' }),
    API_PUBLIC_URL: setting(url('http:', 'https:'), {
      text: 'Address of the API as seen from outside, for links. Unset: derived from API_HOST and API_PORT.',
    }),
    API_CONNECTIONS_MAX: setting(integer(1, 1_000_000), {
      fallback: '4096',
      text: 'Connections that the API keeps open, including long polls and streams; further ones are answered 503. Keep it below the limit of open files. The port of METRICS_PORT accepts 100.',
    }),
    API_TRUSTED_PROXIES: setting(integer(0, 10), {
      fallback: '0',
      text: 'How many proxies in front of the API are trusted to set X-Forwarded-For. 0: the header is ignored.',
    }),
    OPERATOR_KEY: setting(text, {
      secret: true,
      text: 'Credential of the operator (header `x-operator-key`), needed to change plans. Of 32 random characters or more it is accepted also from an address that sends too many wrong ones. Unset: `npm start` generates one in `DATA_DIR/secrets.json`; elsewhere plan changes are refused.',
    }),
  }),
  ...inGroup('Single sign-on', {
    OIDC_ISSUER: setting(url('https:', 'http:'), {
      text: 'Address of an OpenID provider, such as `https://login.example.com/realms/staff`, below which `.well-known/openid-configuration` is: people sign in to the dashboard with their account there. Needs OIDC_CLIENT_ID. An address without TLS works with MODE `development` alone. See [signing in](signing-in.md#single-sign-on).',
    }),
    OIDC_CLIENT_ID: setting(text, {
      text: 'Id of this installation there. Its redirect address is API_PUBLIC_URL with the path `/sign-in/oidc`.',
    }),
    OIDC_CLIENT_SECRET: setting(text, { secret: true, text: 'Its secret. Unset: a public client.' }),
    OIDC_NAME: setting(text, { fallback: 'single sign-on', text: 'What the provider is called on the sign-in page.' }),
    OIDC_EMAIL_DOMAINS: setting(list, {
      fallback: '',
      text: 'Domains of addresses that may sign in this way. Empty: all.',
    }),
    OIDC_SECOND_FACTOR: setting(list, {
      fallback: '',
      text: 'Values of the claims `amr` and `acr` that count as second factor, such as `mfa,hwk`, if the provider is trusted with it. Empty: none, and a required second factor is asked for here.',
    }),
  }),
  ...inGroup('Contents of mail', {
    BLOB_STORE: setting(choice(...BLOB_STORES), {
      fallback: 'postgresql',
      text: 'Where contents of mail are kept: in PostgreSQL, or (`s3`) moved to an object storage a minute after they came. Moving back: `agent-mailbox-admin blobs move`.',
    }),
    S3_ENDPOINT: setting(url('http:', 'https:'), {
      text: 'Address of the S3-compatible object storage, without the bucket. Set S3_* in every process, as long as a content is there.',
    }),
    S3_BUCKET: setting(text, { text: 'Its bucket, which exists. No other program writes below S3_PREFIX.' }),
    S3_REGION: setting(text, { fallback: 'us-east-1', text: 'Its region; many servers take any.' }),
    S3_PREFIX: setting(text, { text: 'Put before the names of objects, for example `mail/`. Unset: nothing.' }),
    S3_ACCESS_KEY_ID: setting(text, {
      secret: true,
      text: 'Key id for the bucket: to read, write and delete objects.',
    }),
    S3_SECRET_ACCESS_KEY: setting(text, { secret: true, text: 'Its secret.' }),
  }),
  ...inGroup('Secrets', {
    SECRETS_KEYS: setting(secretKeys, {
      secret: true,
      text: 'Keys that seal secrets at rest. To rotate, put a new key in front and keep the old ones. Unset: `npm start` generates one in `DATA_DIR/secrets.json`; single processes need it.',
    }),
    CREDENTIAL_PEPPER: setting(secretBytes, {
      secret: true,
      text: 'Pepper of the credential hashes. Changing it ends every session, key and token. Unset: as SECRETS_KEYS.',
    }),
  }),
  ...inGroup('Mail', {
    MAIL_DOMAIN: setting(text, {
      fallback: 'agents.localhost',
      text: 'Domain of mailboxes that are created without one.',
    }),
    MAIL_HOST: setting(text, {
      fallback: '127.0.0.1',
      text: 'Address the mail listeners bind to.',
    }),
    MAIL_HOSTNAME: setting(text, {
      fallback: 'localhost',
      text: 'Name of this mail host: in the greeting, in Received and Authentication-Results, and for clients’ set-up. Its certificate must match.',
    }),
    SMTP_PORT: setting(port, {
      fallback: '2525',
      text: 'Port of inbound SMTP (mapped to 25 by compose).',
    }),
    SUBMISSIONS_PORT: setting(port, {
      fallback: '1465',
      text: 'Port of submission by TLS from the first byte (mapped to 465 by compose).',
    }),
    SUBMISSION_PORT: setting(port, {
      fallback: '1587',
      text: 'Port of submission with STARTTLS (mapped to 587 by compose).',
    }),
    MAIL_PUBLIC_SUBMISSION_PORT: setting(port, {
      text: 'Submission port (TLS from the first byte) that clients are configured with. Unset: SUBMISSIONS_PORT.',
    }),
    MAIL_PUBLIC_SUBMISSION_STARTTLS_PORT: setting(port, {
      text: 'Submission port with STARTTLS that clients find by DNS. Unset: SUBMISSION_PORT.',
    }),
    IMAPS_PORT: setting(port, {
      fallback: '1993',
      text: 'Port of IMAP by TLS from the first byte (mapped to 993 by compose).',
    }),
    IMAP_PORT: setting(port, {
      fallback: '1143',
      text: 'Port of IMAP with STARTTLS (mapped to 143 by compose).',
    }),
    MAIL_PUBLIC_IMAP_PORT: setting(port, {
      text: 'IMAP port (TLS from the first byte) that clients are configured with. Unset: IMAPS_PORT.',
    }),
    POP3S_PORT: setting(port, {
      fallback: '1995',
      text: 'Port of POP3 by TLS from the first byte (mapped to 995 by compose).',
    }),
    POP3_PORT: setting(port, {
      fallback: '1110',
      text: 'Port of POP3 with STLS (mapped to 110 by compose).',
    }),
    MAIL_PUBLIC_POP3_PORT: setting(port, {
      text: 'POP3 port (TLS from the first byte) that clients are configured with. Unset: POP3S_PORT.',
    }),
    MAIL_PROXY_FROM: setting(cidrs, {
      fallback: '',
      text: 'CIDR ranges of TCP proxies in front of the mail listeners. Connections from there must start with a PROXY protocol header (version 1 or 2), which contains the address of the client; from other addresses such a header is not accepted.',
    }),
    IMAP_HIDE_CAPABILITIES: setting(capabilityHiding, {
      fallback: '',
      text: 'IMAP capabilities that are not announced to clients that have problems with them, such as `Old Mail*: QRESYNC CONDSTORE; *: COMPRESS=DEFLATE`. The client is the `name` of its ID command; `*` alone is every client, also before ID and without it. Commands of a hidden capability still work. When to change: a client fails with the capability, and works without it.',
    }),
    SMTP_MAX_CLIENTS: setting(integer(1, 100_000), {
      fallback: '1000',
      text: 'Concurrent inbound SMTP connections in this process; further ones are answered 421.',
    }),
    SMTP_CLIENTS_PER_ADDRESS: setting(integer(1, 100_000), {
      fallback: String(SMTP_CONNECTIONS_PER_SOURCE_MAX),
      text: 'Inbound SMTP connections of one address (IPv6: of a /64) at the same time in this process; further ones are answered 421.',
    }),
    SUBMISSION_MAX_CLIENTS: setting(integer(1, 100_000), {
      fallback: '1000',
      text: 'Submission connections at the same time in this process, both ports together; further ones are answered 421.',
    }),
    IMAP_MAX_CLIENTS: setting(integer(1, 100_000), {
      fallback: '5000',
      text: 'IMAP connections at the same time in this process, both ports together; further ones are answered BYE.',
    }),
    POP3_MAX_CLIENTS: setting(integer(1, 100_000), {
      fallback: '1000',
      text: 'POP3 connections at the same time in this process, both ports together; further ones are answered -ERR.',
    }),
    MAIL_CLIENTS_PER_ADDRESS: setting(integer(1, 100_000), {
      fallback: String(CLIENT_CONNECTIONS_PER_SOURCE_MAX),
      text: 'Connections of one address (IPv6: of a /64) at the same time in this process: to IMAP and POP3 together, and to submission. When to change: many agents on one host or behind one NAT.',
    }),
    TLS_CERT: setting(text, {
      text: 'File with the PEM certificate chain of MAIL_HOSTNAME. Unset: a development certificate made in `DATA_DIR/tls`. Not used with ACME_DIRECTORY.',
    }),
    TLS_KEY: setting(text, { text: 'File with the PEM private key of TLS_CERT.' }),
    MTA_STS_MODE: setting(choice('off', 'none', 'testing', 'enforce'), {
      fallback: 'off',
      text: 'Policy of MAIL_DOMAIN, and of verified domains of organizations, for hosts that deliver to them (MTA-STS, RFC 8461), which the API serves at `https://mta-sts.<domain>/.well-known/mta-sts.txt`. `testing` asks others to report failures of TLS, `enforce` to deliver by TLS with a valid certificate only, `none` withdraws an earlier policy. Its records are in `dns-records`. See [DNS](operations/dns.md#mta-sts).',
    }),
    DNS_SERVERS: setting(list, {
      fallback: '',
      text: 'Resolvers for SPF, DKIM, DMARC, domain verification, webhook destinations and mail hosts, as `address` or `address:port`. Empty: those of the system.',
    }),
    OUTBOUND_TRANSPORT: setting(choice('capture', 'relay', 'mx'), {
      fallback: 'capture',
      text: 'How mail is sent to other hosts. `capture` stores it: nothing is sent, every recipient ends as `captured`. `relay` sends it to OUTBOUND_RELAY_URL. `mx` sends it directly to the mail hosts of each domain.',
    }),
    COMMAND_RULES: setting(text, {
      text: 'File with rules that find sentences which command an assistant, in the form of `mime/signals/command-rules.json`; it replaces those. Read at the start of a process; use the same file in all processes.',
    }),
    OUTBOUND_RELAY_URL: setting(url('smtp:', 'smtps:'), {
      secret: true,
      text: 'The smarthost, as `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`; user and password in percent-encoding.',
    }),
    OUTBOUND_DANE: setting(choice('on', 'off'), {
      fallback: 'on',
      text: 'Whether the transport `mx` requires TLS with a certificate of the TLSA records of a mail host (DANE, RFC 7672). It takes effect where all resolvers are on this machine (DNS_SERVERS, or those of the system) and validate DNSSEC: what another machine says could be forged on its way. See [DNS](operations/dns.md#dane).',
    }),
    MX_PORT: setting(integer(1, 65_535), {
      fallback: '25',
      text: 'Port of the mail hosts that the transport `mx` connects to. Values other than 25 are for tests.',
    }),
    MX_MESSAGES_PER_MINUTE: setting(integer(1, 1_000_000), {
      fallback: '300',
      text: 'Messages that the transport `mx` sends to one domain in a minute, per process; a burst of 20 is allowed. A message that would wait longer than 30 s is deferred to its next attempt. Lower it while the address of the host is new to receivers.',
    }),
    MX_ALLOW_DESTINATIONS: setting(cidrs, {
      fallback: '',
      text: 'CIDR ranges that count as publicly routable for the transport `mx`, for development and tests. Refused in production.',
    }),
    OUTBOUND_RETRY_DELAYS_MS: setting(milliseconds, {
      fallback: '',
      text: 'Waits between attempts to send in milliseconds, the last one repeated, for development and tests. Empty: 1, 5, 15 min, 1, 2, 4 h. Refused in production.',
    }),
  }),
  ...inGroup('Certificates', {
    ACME_DIRECTORY: setting(url('https:'), {
      text: 'Directory of a certificate authority (ACME, RFC 8555), such as `https://acme-v02.api.letsencrypt.org/directory`: certificates are ordered and renewed by themselves, and TLS_CERT is not used. Setting it agrees to the terms of that authority. Unset: certificates are files. See [certificates](operations/certificates.md).',
    }),
    ACME_EMAIL: setting(text, { text: 'Address to which the authority may write.' }),
    ACME_NAMES: setting(list, {
      fallback: '',
      text: 'Further names that get a certificate, beside MAIL_HOSTNAME and, with API_TLS_PORT, the host of API_PUBLIC_URL and that of the policy of MTA_STS_MODE.',
    }),
    ACME_ROOTS: setting(text, {
      text: 'File with the root certificates (PEM) that the server of the authority itself is checked with, for an authority of your own. Unset: those of Node.',
    }),
    API_TLS_PORT: setting(port, {
      fallback: '0',
      text: 'Port at which the API is served by TLS too, on MAIL_HOST, with the certificates of ACME_DIRECTORY: for installations without a proxy. 0 switches it off.',
    }),
    ACME_HTTP_PORT: setting(port, {
      fallback: '80',
      text: 'Port of the listener for challenges, on MAIL_HOST, in the process `api`, while ACME_DIRECTORY is set. The authority connects to port 80 of each name. It answers challenges, and leads everybody else to https://. 0 switches it off.',
    }),
  }),
  ...inGroup('Webhooks', {
    WEBHOOK_ALLOW_DESTINATIONS: setting(cidrs, {
      fallback: '',
      text: 'CIDR ranges that count as publicly routable, for development and tests, e.g. `127.0.0.0/8,::1/128`. Refused in production.',
    }),
    WEBHOOK_EXTRA_CA: setting(text, {
      text: 'File with an additional root certificate that destinations may use, for development and tests. Refused in production.',
    }),
    WEBHOOK_FAST_LANE: setting(choice('on', 'off'), {
      fallback: 'on',
      text: 'Whether workers make first attempts at once and workflows carry the deliveries beside them. `off`: workflows make every attempt, which takes longer and has the same outcome. Use the same value in all processes.',
    }),
    WEBHOOK_RETRY_DELAYS_MS: setting(fourWaits, {
      fallback: '',
      text: 'Four waits of the retry ladder in milliseconds, for development and tests. Empty: 30 s, 2 min, 10 min, 30 min. Refused in production.',
    }),
  }),
};
