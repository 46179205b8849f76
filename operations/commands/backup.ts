/** `backup`: a consistent copy of the installation in a folder, while the service runs. */
import { beginOperatorUse, endOperatorUse } from '#administration/operator-uses.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { blobObjectsOf } from '#core/platform/objects/blob-objects.ts';
import { productVersion } from '#core/platform/product-version.ts';
import { text } from '#core/platform/settings/setting-forms.ts';
import { openDatabase } from '#db/database.ts';
import { asMib, passingStep, passphraseOption, readPassphrase, sizeOf } from '#operations/backup/described.ts';
import { withInstallationDatabase } from '#operations/backup/installation-database.ts';
import { knownSecrets } from '#operations/backup/secrets.ts';
import { writeBackup } from '#operations/backup/write-backup.ts';
import { type CommandContext, command } from '#operations/command.ts';

/** As an answer of HTTP. */
const DONE = 200;
/** Of damaged contents; the manifest has all. */
const DAMAGED_NAMED_MAX = 100;

export const backupCommand = command({
  name: 'backup',
  summary: 'copy database, mail and secrets into a folder, while the service runs',
  description:
    'Writes the state of one moment into a folder: every table that must be kept, each stored content, wherever it is, as a compressed file under its SHA-256, and checksums. Nothing is stopped; migrations wait for the end. An interrupted backup is no backup: run the same command again, which keeps what is whole. Rows and mail are not encrypted: keep the folder where only you read it. Verify a backup (`verify`) before you rely on it.',
  arguments: { folder: { text: 'a new or empty folder, or that of an interrupted backup' } },
  options: {
    since: {
      text: 'an older backup: contents that it has are shared with it (hard links, or copies on another file system), so only new mail takes time and space; each backup stays whole without the other',
      value: 'folder',
      form: text,
    },
    withoutSecrets: {
      text: 'leave out the keys and settings; without SECRETS_KEYS and CREDENTIAL_PEPPER no sealed secret can be read and no credential is valid, so keep them elsewhere',
    },
    passphraseFile: { ...passphraseOption, text: 'seal the secrets of the backup with the passphrase in this file' },
  },
  examples: ['backup /backups/monday', 'backup /backups/tuesday --since /backups/monday'],
  async run(context) {
    const { folder } = context.args;
    const { since, withoutSecrets, passphraseFile } = context.options;
    const passphrase = await readPassphrase(passphraseFile);
    const secrets = withoutSecrets ? undefined : knownSecrets(context.environment, context.settings().DATA_DIR);
    if (secrets === undefined)
      context.progress.warn(
        `Without secrets${withoutSecrets ? '' : ', because SECRETS_KEYS and CREDENTIAL_PEPPER are not set'}: keep these settings elsewhere. Without them no sealed secret can be read and no credential is valid.`,
      );
    const startedAt = performance.now();
    const { manifest, blobs, continued } = await withInstallationDatabase(context, 'refuse', (url) =>
      passingStep(context, 'Backup', async (onProgress) => {
        const written = await writeBackup({
          url,
          folder,
          since,
          secrets,
          passphrase,
          objects: blobObjectsOf(context.settings()),
          productVersion: productVersion(),
          onProgress,
        });
        await noteBackup(context.progress, url);
        return written;
      }),
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    const { damaged } = manifest.blobs;
    if (secrets !== undefined && manifest.secrets === 'contained')
      context.progress.warn('secrets.json of the backup has the keys in plain form. --passphrase-file seals it.');
    for (const sha256 of damaged.slice(0, DAMAGED_NAMED_MAX))
      context.progress.warn(`The content ${sha256} is damaged in the database itself. It is in the backup as it is.`);
    context.output(
      { folder, seconds, continued, blobs, manifest },
      [
        `Backup of ${manifest.takenAt} in ${folder}, ${seconds.toFixed(1)} s.`,
        `  rows      ${manifest.tables.reduce((sum, { rows }) => sum + rows, 0)} in ${manifest.tables.length} tables, ${asMib(sizeOf(manifest))} compressed`,
        `  mail      ${manifest.blobs.count} contents, ${asMib(manifest.blobs.bytes)} before compression; ${blobs.written} written, ${blobs.shared} shared with the older backup, ${blobs.kept} kept from an interrupted one`,
        `  secrets   ${manifest.secrets}`,
        '',
        `Check it: agent-mailbox-admin verify ${folder}`,
      ].join('\n'),
    );
    return damaged.length > 0 ? 'findings' : 'done';
  },
});

/** For the overview of operators. A backup of a database of an earlier version has no place for it. */
async function noteBackup(progress: Pick<CommandContext['progress'], 'warn'>, url: string): Promise<void> {
  const db = await openDatabase({ url, poolMax: 1 });
  try {
    const at = new Date();
    const use = await beginOperatorUse(db, {
      at,
      operation: 'backup',
      via: 'command',
      ipAddress: null,
      requestId: null,
    });
    await endOperatorUse(db, use, DONE);
  } catch (error) {
    progress.warn(`The overview of operators does not show this backup: ${reasonOf(error)}.`);
  } finally {
    await db.close();
  }
}
