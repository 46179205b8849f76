/** `export`: one mailbox in a folder. */

import { exportable, exportMailbox } from '#administration/moving/export-mailbox.ts';
import { folderTarget } from '#administration/moving/export-to-folder.ts';
import { requireMailbox } from '#administration/moving/find-mailbox.ts';
import { choice } from '#core/platform/settings/setting-forms.ts';
import { EXPORT_FORMATS } from '#domain/mailbox-moves.ts';
import { asMib } from '#operations/backup/described.ts';
import { command } from '#operations/command.ts';

const POOL_MAX = 2;

export const exportCommand = command({
  name: 'export',
  summary: 'write one mailbox as mbox, Maildir or an archive',
  description:
    'Writes all folders of a mailbox with flags, keywords and dates into a folder, while the service runs. mbox: one file for each folder, variant mboxrd. maildir: Maildir++, as Dovecot reads it. archive: a tar file with all that this service knows of each message, and checksums. Every message comes back byte for byte from each of them. Interrupted, the same command goes on; a whole export is never changed. Nothing is encrypted.',
  arguments: {
    address: { text: 'address of the mailbox' },
    target: { text: 'a new or empty folder, or that of an interrupted export' },
  },
  options: {
    format: { text: 'how it is written', value: 'format', form: choice(...EXPORT_FORMATS), fallback: 'archive' },
    dryRun: { text: 'only say what would be written' },
  },
  examples: ['export ada@agents.example /exports/ada', 'export ada@agents.example /exports/ada-mbox --format mbox'],
  async run(context) {
    const { address, target } = context.args;
    const { format, dryRun } = context.options;
    const db = await context.database(POOL_MAX);
    const account = await requireMailbox(db, address);
    if (dryRun) {
      const folders = await exportable(db, account);
      context.output(
        { address: account.address, dryRun, folders },
        folders.map(({ name, messages, bytes }) => `${name}: ${messages} messages, ${asMib(bytes)}`).join('\n'),
      );
      return 'done';
    }
    const exported = await context.progress.step(`Export of ${account.address}`, (note) =>
      exportMailbox({
        ...{ db, account, target: folderTarget(target, format, account), signal: context.signal },
        onProgress: (text) => note(text, { passing: true }),
      }),
    );
    context.output(
      { address: account.address, format, target, ...exported },
      [
        ...exported.folders.map(({ name, messages }) => `${name}: ${messages}`),
        `${exported.messages} messages, ${asMib(exported.bytes)}, in ${target}`,
      ].join('\n'),
    );
    return 'done';
  },
});
