/** `verify`: proves a backup with this version, in a copy. */
import { productVersion } from '#core/platform/product-version.ts';
import { url } from '#core/platform/settings/setting-forms.ts';
import { readManifest } from '#operations/backup/backup-folder.ts';
import { asAge, passingStep, passphraseOption, readPassphrase } from '#operations/backup/described.ts';
import { withInstallationDatabase } from '#operations/backup/installation-database.ts';
import { type VerifyReport, verifyBackup } from '#operations/backup/restore-backup.ts';
import { knownSecrets, readSecrets } from '#operations/backup/secrets.ts';
import { command } from '#operations/command.ts';

export const verifyCommand = command({
  name: 'verify',
  summary: 'prove a backup with this version: restore, migrate and check a copy of it',
  description:
    'Reads every file of the backup and compares checksums, restores it into a database of its own, migrates that to this version, checks the invariants of the mail store, and drops it. So it also rehearses an upgrade: run it from the new version. The copy is made beside the database of the settings, by a role that may create databases; without any database in a server that is started for it. Findings (exit code 3): damaged files, violated invariants, keys that do not fit.',
  arguments: { folder: { text: 'folder of the backup' } },
  options: {
    all: { text: 'check every message instead of a sample' },
    server: {
      text: 'database of the server in which the copy is made, instead of DATABASE_URL',
      value: 'url',
      form: url('postgres:', 'postgresql:'),
    },
    passphraseFile: passphraseOption,
  },
  examples: ['verify /backups/monday', 'verify /backups/monday --all --server postgres://admin@test-server/postgres'],
  async run(context) {
    const { folder } = context.args;
    const { all, server, passphraseFile } = context.options;
    const passphrase = await readPassphrase(passphraseFile);
    const manifest = await readManifest(folder);
    const own = await readSecrets(folder, passphrase);
    const secrets = own ?? knownSecrets(context.environment, context.settings().DATA_DIR);
    const startedAt = performance.now();
    const verify = (at: string) =>
      passingStep(context, 'Verification', (onProgress) =>
        verifyBackup({ url: at, folder, manifest, secrets, all, now: new Date(), onProgress }),
      );
    const report =
      server === undefined ? await withInstallationDatabase(context, 'scratch', verify) : await verify(server);
    const seconds = (performance.now() - startedAt) / 1_000;
    const age = asAge(Date.now() - Date.parse(manifest.takenAt));
    context.output(
      { folder, sound: report.sound, seconds, backup: { ...manifest, tables: manifest.tables.length }, report },
      [
        `Backup of ${manifest.takenAt} (${age} old), made by version ${manifest.productVersion}, verified by ${productVersion()}: ${report.sound ? 'sound' : 'NOT SOUND'}, ${seconds.toFixed(1)} s.`,
        ...described(report, manifest.blobs.damaged),
      ].join('\n'),
    );
    return report.sound ? 'done' : 'findings';
  },
});

const SECRETS_TEXTS = {
  fit: 'the keys open what is sealed, and the credentials are valid with the pepper',
  missing_some: 'SECRETS_KEYS lacks some of the keys: what is sealed with them cannot be read',
  other: 'the keys are of another installation: nothing that is sealed can be read, or no credential is valid',
  unknown: 'no keys are known; keep SECRETS_KEYS and CREDENTIAL_PEPPER elsewhere, a restore needs them',
} as const;

function described({ files, restored, rules, secrets, readAgain }: VerifyReport, damaged: readonly string[]): string[] {
  if (files.length > 0) return ['', ...files.map((each) => `✖ ${each}`)];
  const { migrated = [], migratedMs = 0, schemaDiffers = false } = restored?.loaded ?? {};
  return [
    '✔ every file has its checksum',
    ...damaged.map((sha256) => `✖ the content ${sha256} was damaged in the database already`),
    ...(schemaDiffers
      ? ['! the tables had other columns than the migrations make: somebody changed them by hand']
      : []),
    ...rules.flatMap(({ rule, text, checked, atFault, examples }) => [
      `${atFault === 0 ? '✔' : '✖'} ${rule}  ${text}: ${checked} checked, ${atFault} at fault`,
      ...examples.map((example) => `      ${example}`),
    ]),
    `${secrets === 'fit' ? '✔' : secrets === 'other' ? '✖' : '!'} ${SECRETS_TEXTS[secrets]}`,
    '',
    migrated.length === 0
      ? 'This version changes nothing in its tables.'
      : `This version would run ${migrated.length} migrations, which took ${(migratedMs / 1_000).toFixed(1)} s here:\n${migrated.map((name) => `  ${name}`).join('\n')}`,
    ...(readAgain > 0 ? [`It would read ${readAgain} messages again, in the background.`] : []),
  ];
}
