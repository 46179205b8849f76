/**
 * Documents that are made from code: `docs/configuration.md` from the table of settings, the lines of `docs/mcp.md` that
 * connect the common hosts, `docs/asyncapi.json` from the schemas of the events.
 */
import { currentAsyncApi } from '#api/documents/serve-documents.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { mcpSetups } from '#client/snippets.ts';
import { SETTING_GROUPS } from '#core/platform/settings/setting-forms.ts';
import { SETTINGS } from '#core/platform/settings/settings.ts';
import { TABLE_RETENTION } from '#domain/retention.ts';

/** `docs/asyncapi.json`: what every installation serves at /asyncapi.json, with an address of none. */
export const asyncApiFile = (): string =>
  `${JSON.stringify(currentAsyncApi(webhookEvents, 'https://mail.example.com'), null, 2)}\n`;

const [BEGIN, END] = ['<!-- setups -->', '<!-- /setups -->'];

/** The document with its lines as they are now. */
export function withMcpSetups(document: string): string {
  const rows = mcpSetups('https://mail.example.com').map(
    ({ title, note, text }) => `| ${title} | \`${text.replaceAll('|', '\\|')}\` | ${note} |`,
  );
  const table = ['| host | line | how |', '|---|---|---|', ...rows].join('\n');
  const [before = '', rest = ''] = document.split(BEGIN);
  return `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`;
}

const INTRODUCTION = `# Configuration

<!-- Generated from core/platform/settings/setting-table.ts by \`npm run generate\`. Change it there. -->

All settings are environment variables; an empty one counts as unset. Those that are not set are read from the file that
AGENT_MAILBOX_ENV names, else from \`DATA_DIR/settings.env\` if it exists: lines \`NAME=value\`, which
[\`agent-mailbox-admin setup\`](operations/install.md) writes. The file in DATA_DIR is not read if the environment has another DATABASE_URL. \`npm start\` needs no
settings: it runs what is missing. The single processes (\`npm run start:api\`, \`start:worker\`, \`start:mail\`) need
at least DATABASE_URL, TEMPORAL_ADDRESS, SECRETS_KEYS and CREDENTIAL_PEPPER, the same for all of them, and
\`npm run migrate\` before the first start and after each upgrade.

If a value is wrong, the start fails and names the setting and the values it accepts.

All processes of an installation have TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE, CREDENTIAL_PEPPER and MAIL_DOMAIN alike.
\`npm run migrate\` and \`npm start\` write them into the database (the pepper as a fingerprint). A process with another
value, or with SECRETS_KEYS that open no secret of the database, ends with the reason before it listens, sends or starts
anything. To change one of the first three, stop all processes and run \`npm run migrate -- --accept-changed-settings\`
(or \`npm start -- --accept-changed-settings\`) once with the new value; MAIL_DOMAIN changes with the next \`npm run migrate\`.
The Temporal must be the same too. Addresses may differ; the id of the namespace is compared, and a worker with another
one ends, while api and mail are not ready (\`/readyz\`, \`other_server\`) and start no workflow. After a move to another
server, also of a restored database, confirm it in the same way. A namespace that was made anew at the same address, since
Temporal lost its state, needs no confirmation.
Only these two commands create a namespace in Temporal; a worker creates one that was lost. Keep API_PUBLIC_URL, MAIL_HOSTNAME and the
groups Webhooks and Mail alike too; they are not compared, since an address can have several names, and mail hosts can
differ.
`;

/** The states of `core/process/check-database.ts`, in words. */
const OWN_POSTGRESQL = `With DATABASE_URL the service uses a server of yours: PostgreSQL 15 to 18 in its default configuration, a database with
the encoding UTF8, and a role that owns it. It needs no extension and no superuser:

\`\`\`sql
create role agent_mailbox login password '…';
create database agent_mailbox owner agent_mailbox encoding 'UTF8' template template0;
\`\`\`

Each connection sets for itself what its statements depend on (\`db/connections.ts\`): no compilation of plans (JIT), no parallel plans, UTC,
ISO dates, READ COMMITTED. The following it cannot set. \`/readyz\` (\`databaseSettings\`), the log of each process at its start, \`npm run migrate\`
and the screen of \`npm start\` warn of each, with what to do; none of them stops the service:

| setting | harms when |
|---|---|
| \`fsync\`, \`full_page_writes\`, \`synchronous_commit\` | off: accepted mail or the whole database may be lost in a crash |
| \`autovacuum\`, \`track_counts\` | off: tables grow and become slow |
| \`max_connections\`, connection limits of role and database | below what all processes together may open, beside the sessions of other programs such as Temporal |
| \`shared_buffers\` | below 64 MB |
| \`temp_file_limit\` | below 256 MB |
| \`statement_timeout\`, \`transaction_timeout\` | below 60 s |
| \`lock_timeout\`, \`idle_in_transaction_session_timeout\`, \`idle_session_timeout\` | below 5 s, 30 s, 5 minutes |
| \`lc_messages\` | not English, and the role may not set it |
| \`session_replication_role\` | not \`origin\` |
| collation of the database | knows the letters of ASCII alone (\`C\`), or was changed by an upgrade of the system since its indexes were made |
| row security | hides rows of our tables from the role |

A database with another encoding, and a server before version 15, are refused at the start. For a large installation we recommend beside that
\`shared_buffers\` of a quarter of the memory, \`max_wal_size\` of 4 GB, and \`autovacuum_naptime\` of 10 s, as in \`docker-compose.yml\`; the benchmarks
on a distribution's server run without them. PgBouncer may be in front of the server in session mode. Its transaction mode cannot be used:
the service listens to notifications, and keeps prepared statements and locks of sessions.`;

const OWN_TEMPORAL = `With TEMPORAL_ADDRESS the service uses a server of yours. It creates the search attributes and the Schedules that it needs, or says at
its start how to. The development server of \`npm start\` and \`deploy/temporal-dynamic-config.yaml\` differ from the defaults of
Temporal 1.29 in the following, which a client cannot ask a server for. The service needs none of it to be correct:

| dynamic configuration | without it |
|---|---|
| \`system.enableActivityEagerExecution: true\` | each activity passes through a task queue, which takes some milliseconds |
| \`matching.useNewMatcher\`, \`matching.enableFairness: true\` | a large backlog of one organization may delay workflows of others; first attempts are shared fairly in any case |
| \`frontend.rps\`, \`frontend.namespaceRPS\`, \`matching.rps\`, \`history.rps: 50000\` | the defaults of 1,200 to 3,000 calls a second limit retries and sending; calls above them are repeated later |`;

const GROUP_NOTES: Partial<Record<(typeof SETTING_GROUPS)[number], string>> = {
  PostgreSQL: OWN_POSTGRESQL,
  Temporal: OWN_TEMPORAL,
  Process: '`npm start` stores everything in DATA_DIR; remove that folder to start with an empty service.',
  Secrets:
    'Generate them once and keep them with your backups: without SECRETS_KEYS the sealed secrets in the database cannot be opened.\n\n' +
    'To change the key: (1) add the new key after the current one in every process; (2) put it in front in every process; ' +
    '(3) run `npm run reseal` (in compose: `docker compose run --rm migrate agent-mailbox-admin reseal`), which seals everything ' +
    'again while the service runs, may be interrupted and repeated, and says when the old key is no longer needed; ' +
    '(4) remove the old key. `/readyz` reports missing keys.',
};

const RETENTION = `## What is kept for how long

The Schedule \`delete-history\` runs every six hours and deletes rows older than their retention period, table by table and in bounded
portions (\`domain/retention.ts\`). Steps: [data and mail store](architecture/data-and-mail-store.md).

| table | kept for | removed by |
|---|---|---|
`;

const retentionTable = (): string =>
  `${RETENTION}${TABLE_RETENTION.map(
    ({ table, keptFor, removedBy }) =>
      `| \`${table}\` | ${cell(keptFor)} | ${removedBy === 'owner' ? 'deletion of the row, or of the row it belongs to' : `step \`${removedBy}\``} |\n`,
  ).join('')}`;

/** One cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function configurationDocument(): string {
  const groups = SETTING_GROUPS.map((group) => {
    const rows = Object.entries(SETTINGS)
      .filter(([, setting]) => setting.group === group)
      .map(([name, setting]) => {
        const fallback = 'fallback' in setting && setting.fallback !== '' ? `\`${setting.fallback}\`` : '';
        const secret = 'secret' in setting && setting.secret ? ' **Secret.**' : '';
        return `| \`${name}\` | ${cell(setting.takes)} | ${cell(fallback)} | ${cell(setting.text)}${secret} |`;
      });
    const note = GROUP_NOTES[group];
    return [
      `## ${group}`,
      '',
      ...(note === undefined ? [] : [note, '']),
      '| setting | takes | default | meaning |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return `${INTRODUCTION}\n${groups.join('\n')}\n${retentionTable()}`;
}
