/** Settings of processes, PostgreSQL, Temporal, API and secrets. */

import { AUDIT_RETENTION_DAYS_DEFAULT, SENT_MAIL_RETENTION_DAYS_DEFAULT } from '#domain/retention.ts';
import { OUTBOUND_CONTENT_RETENTION_DAYS } from '#domain/sending/outbound.ts';
import {
  choice,
  flag,
  integer,
  password,
  port,
  type Setting,
  secretBytes,
  secretKeys,
  setting,
  text,
  url,
} from './setting-forms.ts';

export const SERVICE_SETTINGS = {
  MODE: setting(choice('development', 'production'), {
    group: 'Process',
    fallback: 'development',
    text: 'In `production` the service refuses development conveniences: generated secrets, WEBHOOK_ALLOW_DESTINATIONS and WEBHOOK_EXTRA_CA.',
  }),
  DATA_DIR: setting(text, {
    group: 'Process',
    fallback: '.data',
    text: 'Folder for everything `npm start` stores: embedded PostgreSQL, Temporal, secrets, certificates, `service.json`.',
  }),
  LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    group: 'Process',
    fallback: 'info',
    text: 'Least severe log line that is written. Logs are JSON lines on standard error; `npm start` writes them to `DATA_DIR/service.log`.',
  }),
  METRICS_PORT: setting(port, {
    group: 'Process',
    fallback: '9464',
    text: 'Port of `/metrics` (Prometheus), `/healthz` and `/readyz` of each process, on API_HOST. 0 switches it off, and with it the HEALTHCHECK of the image.',
  }),
  SHUTDOWN_DEADLINE_SECONDS: setting(integer(1, 600), {
    group: 'Process',
    fallback: '40',
    text: 'Seconds that stopping may take in total after SIGTERM or SIGINT. Until then, requests, mail and attempts in flight may finish. After that, the process ends with exit code 1 and a log line that lists what was still open. Keep it below the time after which your supervisor kills the process (`stop_grace_period`, `terminationGracePeriodSeconds`).',
  }),
  AUDIT_RETENTION_DAYS: setting(integer(30, 36_500), {
    group: 'Process',
    fallback: String(AUDIT_RETENTION_DAYS_DEFAULT),
    text: 'Days that entries of the audit log are kept. Read by the worker. Change it if your rules of evidence and privacy require it.',
  }),
  SENT_MAIL_RETENTION_DAYS: setting(integer(OUTBOUND_CONTENT_RETENTION_DAYS, 36_500), {
    group: 'Process',
    fallback: String(SENT_MAIL_RETENTION_DAYS_DEFAULT),
    text: 'Days that the status of a sent message is kept after its last recipient is final: recipients, attempts and consent. It does not affect the copy in Sent, which is mail. Read by the worker.',
  }),
  OWNER_EMAIL: setting(text, {
    group: 'Process',
    text: 'Sign-in address of the owner of the first organization. Unset: owner@MAIL_DOMAIN. Read only while there is no organization.',
  }),
  OWNER_PASSWORD: setting(password, {
    group: 'Process',
    secret: true,
    text: 'Password of that owner. Unset: a random one, shown by the start or migration that creates the organization.',
  }),
  DATABASE_URL: setting(url('postgres:', 'postgresql:'), {
    group: 'PostgreSQL',
    secret: true,
    text: 'PostgreSQL 15 or later. Unset: `npm start` runs its own embedded PostgreSQL 18; single processes need it.',
  }),
  DATABASE_POOL_MAX: setting(integer(2, 500), {
    group: 'PostgreSQL',
    fallback: '20',
    text: 'Connections per process. In addition, a worker opens six, an API process four, a mail process one, and `npm start` nine. `/readyz` warns when all processes together may open more than the server’s max_connections allows.',
  }),
  POSTGRES_PORT: setting(port, {
    group: 'PostgreSQL',
    fallback: '54320',
    text: 'Port of the embedded PostgreSQL. Not used with DATABASE_URL.',
  }),
  TEMPORAL_ADDRESS: setting(text, {
    group: 'Temporal',
    text: 'Address `host:port` of a Temporal frontend. Unset: `npm start` runs its own development server; single processes need it.',
  }),
  TEMPORAL_NAMESPACE: setting(text, { group: 'Temporal', fallback: 'default', text: 'Namespace of the workflows.' }),
  TEMPORAL_API_KEY: setting(text, { group: 'Temporal', secret: true, text: 'API key of Temporal Cloud. Implies TLS.' }),
  TEMPORAL_TLS: setting(flag, { group: 'Temporal', fallback: 'false', text: 'Connect to Temporal by TLS.' }),
  TEMPORAL_TASK_QUEUE: setting(text, {
    group: 'Temporal',
    fallback: 'agent-mailbox',
    text: 'Task queue of the workers. Change it when several installations share a namespace.',
  }),
  TEMPORAL_UI_URL: setting(url('http:', 'https:'), {
    group: 'Temporal',
    text: 'Address of the Temporal UI, shown and linked to. Unset: that of the development server, if it was started.',
  }),
  TEMPORAL_CLI: setting(text, {
    group: 'Temporal',
    text: 'Path of the `temporal` program for the development server. Unset: the one on PATH, in the cache, or downloaded.',
  }),
  TEMPORAL_PORT: setting(port, {
    group: 'Temporal',
    fallback: '7233',
    text: 'Port of the development server; its UI listens on this plus 1000. Not used with TEMPORAL_ADDRESS.',
  }),
  API_HOST: setting(text, {
    group: 'API',
    fallback: '127.0.0.1',
    text: 'Address the API and metrics listen on. `0.0.0.0` in containers, behind a TLS-terminating proxy.',
  }),
  API_PORT: setting(port, { group: 'API', fallback: '8080', text: 'Port of REST API, documents and dashboard.' }),
  API_PUBLIC_URL: setting(url('http:', 'https:'), {
    group: 'API',
    text: 'Address of the API as seen from outside, for links. Unset: derived from API_HOST and API_PORT.',
  }),
  API_CONNECTIONS_MAX: setting(integer(1, 1_000_000), {
    group: 'API',
    fallback: '4096',
    text: 'Connections that the API keeps open, including long polls and streams; further ones are answered 503. Keep it below the limit of open files. The port of METRICS_PORT accepts 100.',
  }),
  API_TRUSTED_PROXIES: setting(integer(0, 10), {
    group: 'API',
    fallback: '0',
    text: 'How many proxies in front of the API are trusted to set X-Forwarded-For. 0: the header is ignored.',
  }),
  OPERATOR_KEY: setting(text, {
    group: 'API',
    secret: true,
    text: 'Credential of the operator (header `x-operator-key`), needed to change plans. Unset: `npm start` generates one in `DATA_DIR/secrets.json`; elsewhere plan changes are refused.',
  }),
  SECRETS_KEYS: setting(secretKeys, {
    group: 'Secrets',
    secret: true,
    text: 'Keys that seal secrets at rest. To rotate, put a new key in front and keep the old ones. Unset: `npm start` generates one in `DATA_DIR/secrets.json`; single processes need it.',
  }),
  CREDENTIAL_PEPPER: setting(secretBytes, {
    group: 'Secrets',
    secret: true,
    text: 'Pepper of the credential hashes. Changing it ends every session, key and token. Unset: as SECRETS_KEYS.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
