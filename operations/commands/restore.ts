/** `restore`: a backup into an empty installation. */
import { existsSync } from 'node:fs';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import { text } from '#core/platform/settings/setting-forms.ts';
import { writeWhole } from '#core/platform/write-file.ts';
import { BackupError, type BackupManifest, readManifest } from '#operations/backup/backup-folder.ts';
import { CREDENTIAL_KINDS, type CredentialKind, readRecordedEnds } from '#operations/backup/credentials.ts';
import { asAge, passingStep, passphraseOption, readPassphrase } from '#operations/backup/described.ts';
import { withInstallationDatabase } from '#operations/backup/installation-database.ts';
import {
  checkSecrets,
  type RestoreReport,
  restoreBackup,
  type SecretsVerdict,
} from '#operations/backup/restore-backup.ts';
import { SEND_AGAIN_UP_TO_MS } from '#operations/backup/restored-mail.ts';
import { type BackedUpSecrets, generatedSecretsFile, knownSecrets, readSecrets } from '#operations/backup/secrets.ts';
import { describeTemporal, type TemporalState, temporalState } from '#operations/backup/temporal-state.ts';
import { command } from '#operations/command.ts';

const kindsForm: Form<readonly CredentialKind[]> = {
  takes: `a list of ${CREDENTIAL_KINDS.join(', ')}, or \`all\``,
  parse(value) {
    const names = value === 'all' ? [...CREDENTIAL_KINDS] : value.split(',').map((each) => each.trim());
    const kinds = CREDENTIAL_KINDS.filter((kind) => names.includes(kind));
    return kinds.length === names.length ? kinds : undefined;
  },
};

export const restoreCommand = command({
  name: 'restore',
  summary: 'load a backup into an empty installation',
  description:
    'Loads a backup into a database without rows (it never overwrites anything) and migrates it to this version. Every folder gets a new UIDVALIDITY and every sequence a higher value, so that no mail client and no stream takes new mail for old. Says which mail may have been sent since the backup and which credentials are valid again. Stop all processes before; if it is interrupted, run it again. Without DATABASE_URL an embedded PostgreSQL is made in DATA_DIR, as `npm start` uses it. Findings (exit code 3): something to decide about, such as stopped mailboxes or credentials that had been revoked.',
  arguments: { folder: { text: 'folder of the backup' } },
  options: {
    holdOutgoing: {
      text: `stop the mailboxes whose mail may have been sent since the backup, until a person has looked; the default for a backup older than ${SEND_AGAIN_UP_TO_MS / 60_000} minutes`,
    },
    sendOutgoing: { text: 'send that mail again at once; what was sent since the backup arrives twice' },
    audit: {
      text: 'a newer backup, or a file with the newer audit log in JSON (GET /api/audit): says which of the credentials had been revoked',
      value: 'folder or file',
      form: text,
    },
    endRevoked: { text: 'end those credentials again' },
    endCredentials: {
      text: 'end all credentials of these kinds',
      value: 'kinds',
      form: kindsForm,
    },
    passphraseFile: passphraseOption,
  },
  examples: [
    'restore /backups/monday',
    'restore /backups/monday --audit audit.json --end-revoked',
    'restore /backups/monday --end-credentials sessions,oauth,links',
  ],
  async run(context) {
    const { folder } = context.args;
    const { holdOutgoing, sendOutgoing, audit, endRevoked, endCredentials, passphraseFile } = context.options;
    if (holdOutgoing && sendOutgoing) throw new BackupError('Name --hold-outgoing or --send-outgoing, not both');
    if (endRevoked && audit === undefined)
      throw new BackupError('--end-revoked needs --audit, which says what was revoked');
    const manifest = await readManifest(folder);
    const inBackup = await readSecrets(folder, await readPassphrase(passphraseFile));
    const takenAt = new Date(manifest.takenAt);
    const recorded = audit === undefined ? [] : await readRecordedEnds(audit, takenAt);
    const now = new Date();
    const ageMs = now.getTime() - takenAt.getTime();
    const hold = !sendOutgoing && (holdOutgoing || ageMs > SEND_AGAIN_UP_TO_MS);
    const { DATA_DIR } = context.settings();
    return withInstallationDatabase(context, 'create', async (url) => {
      const report = await passingStep(context, `Restore of ${manifest.takenAt}`, (onProgress) =>
        restoreBackup({
          ...{ url, folder, manifest, now, recorded, onProgress },
          ...{ holdOutgoing: hold, endKinds: endCredentials ?? [], endRecorded: endRevoked },
        }),
      );
      const secretsWritten = restoreSecrets(DATA_DIR, inBackup);
      const secrets = await checkSecrets(url, knownSecrets(context.environment, DATA_DIR) ?? inBackup);
      const temporal = await temporalState(context.settings());
      const found = {
        manifest,
        ageMs,
        report,
        secrets,
        secretsWritten,
        inBackup,
        temporal,
        audit,
        environment: context.environment,
      };
      context.output(
        {
          ...{ folder, takenAt: manifest.takenAt, ageMs, report, secrets, temporal },
          secretsFile: secretsWritten ? generatedSecretsFile(DATA_DIR) : null,
        },
        described(found, DATA_DIR),
      );
      const open =
        report.mail.maybeSent > 0 || report.recorded.valid.length > 0 || (secrets !== 'fit' && secrets !== 'unknown');
      return open ? 'findings' : 'done';
    });
  },
});

/** `npm start` would make new ones, with which nobody could sign in. @returns whether it wrote the file */
function restoreSecrets(dataDir: string, secrets: BackedUpSecrets | undefined): boolean {
  const file = generatedSecretsFile(dataDir);
  if (secrets?.generated === undefined || secrets.generated === null || existsSync(file) || !existsSync(dataDir))
    return false;
  try {
    writeWhole(file, `${JSON.stringify(secrets.generated, null, 2)}\n`, 0o600);
    return true;
  } catch (error) {
    throw new BackupError(
      `${file} cannot be written: ${reasonOf(error)}. Copy "generated" of the backup's secrets there before the first start`,
    );
  }
}

interface Found {
  readonly manifest: BackupManifest;
  readonly ageMs: number;
  readonly report: RestoreReport;
  readonly secrets: SecretsVerdict;
  readonly secretsWritten: boolean;
  readonly inBackup: BackedUpSecrets | undefined;
  readonly temporal: TemporalState;
  readonly audit: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

function described(found: Found, dataDir: string): string {
  const { manifest, ageMs, report } = found;
  const { loaded, identities } = report;
  return [
    `Restored the state of ${manifest.takenAt}, ${asAge(ageMs)} ago. What happened after it is lost.`,
    `  rows         ${manifest.tables.reduce((sum, { rows }) => sum + rows, 0)}, with ${manifest.blobs.count} contents of mail`,
    `  migrations   ${loaded.migrated.length === 0 ? 'none since the backup' : loaded.migrated.join(', ')}`,
    `  identities   new UIDVALIDITY for ${identities.folders} folders in ${identities.mailboxes} mailboxes: mail clients read them again, POP3 clients too`,
    '',
    ...describedMail(report, ageMs),
    '',
    ...describedCredentials(found),
    '',
    'Erasures: what was erased since the backup is there again. With the receipts of these erasures, before the processes',
    'start: `agent-mailbox-admin erase again <folder of receipts>` (docs/operations/erasure.md).',
    '',
    `Temporal: ${describeTemporal(found.temporal)}`,
    '',
    ...describedSecrets(found, dataDir),
    '',
    'Next: `npm start`, or `agent-mailbox-admin migrate` and then the processes.',
  ].join('\n');
}

function describedMail({ mail }: RestoreReport, ageMs: number): string[] {
  const sent =
    mail.maybeSent === 0
      ? ['No mail was being sent at the backup: none is sent twice.']
      : [
          `${mail.maybeSent} messages were being sent or due at the backup, and may have been sent in the ${asAge(ageMs)} since then:`,
          ...mail.mailboxes.map(({ id, address, messages }) => `  ${messages} of ${address} (${id})`),
          mail.stopped
            ? 'Sending of these mailboxes is stopped. An owner withdraws what was sent, then sets the mailbox to "normal": on its page, or PATCH /api/mailboxes/<id> {"sendingMode": "normal"}.'
            : 'They are sent again when the processes start: what was sent since the backup arrives twice.',
        ];
  return [
    `Outgoing mail: ${sent[0]}`,
    ...sent.slice(1),
    `  ${mail.held} held messages wait for a person. Decisions since the backup are lost: what was approved and sent then is asked for again.`,
    `  ${mail.scheduled} messages are scheduled for later. Those that were withdrawn since the backup are sent all the same.`,
    `  ${mail.deliveries} webhook deliveries were open. They are sent again under the same webhook-id, by which receivers recognize repetitions.`,
    ...(mail.notices > 0 ? [`  ${mail.notices} notices to members were waiting, and may be sent a second time.`] : []),
  ];
}

function describedCredentials({ report, audit }: Found): string[] {
  const { valid, ended } = report.recorded;
  return [
    'Credentials: those of the backup are valid. What was revoked since then is valid again:',
    ...report.credentials.map(
      ({ kind, text: what, valid: count, ended: isEnded }) => `  ${isEnded ? 'ended ' : ''}${count} ${what} (${kind})`,
    ),
    ...(audit === undefined
      ? ['Which were revoked is known only with a newer audit log (--audit). To end a kind: --end-credentials <kinds>.']
      : valid.length === 0
        ? [`By ${audit} none of those that it covers had been revoked.`]
        : [
            `By ${audit} these had been revoked${ended ? ', and were ended again' : ' and are VALID AGAIN (end them: --end-revoked)'}:`,
            ...valid.map(({ action, targetId, createdAt }) => `  ${createdAt.toISOString()} ${action} ${targetId}`),
          ]),
    'Restrictions are those of the backup, too. Lost, and to be set again: suspensions of organizations and mailboxes, stops',
    'of sending, narrower scopes of keys and changed roles since then (docs/operations/restore.md).',
  ];
}

/** What `npm start` chooses for itself. */
const CHOSEN_BY_START =
  /^(?:DATABASE_URL|TEMPORAL_.*|SECRETS_KEYS|CREDENTIAL_PEPPER|OPERATOR_KEY|DATA_DIR|TLS_.*|WEBHOOK_ALLOW_DESTINATIONS|WEBHOOK_EXTRA_CA)$/;

const SECRETS_TEXTS = {
  fit: 'the known keys open what is sealed.',
  missing_some: 'SECRETS_KEYS lacks some of the keys. Add those of the backed-up installation.',
  other:
    'the settings SECRETS_KEYS and CREDENTIAL_PEPPER are those of ANOTHER installation: set those of the backed-up one before you start.',
  unknown:
    'the backup has none, and none are set: set SECRETS_KEYS and CREDENTIAL_PEPPER of the backed-up installation before you start.',
} as const;

function describedSecrets({ secrets, secretsWritten, inBackup, environment }: Found, dataDir: string): string[] {
  const isOfStart = inBackup !== undefined && inBackup.generated !== null;
  const names = Object.entries(inBackup?.settings ?? {})
    .filter(([name, value]) => environment[name] !== value && !(isOfStart && CHOSEN_BY_START.test(name)))
    .map(([name]) => name);
  return [
    `Secrets: ${secretsWritten ? `${generatedSecretsFile(dataDir)} was written; ` : ''}${SECRETS_TEXTS[secrets]}`,
    ...(names.length > 0
      ? [
          `Settings of the backup that are not set here, or are different: ${names.join(', ')} (values in its secrets.json).`,
        ]
      : []),
  ];
}
