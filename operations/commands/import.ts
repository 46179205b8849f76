/** `import`: mail from elsewhere into one mailbox. */

import { requireMailbox } from '#administration/moving/find-mailbox.ts';
import { readImap } from '#administration/moving/imap-reader.ts';
import { type Imported, importMailbox } from '#administration/moving/import-mailbox.ts';
import { openOnDisk, readWhole } from '#administration/moving/mail-files.ts';
import { openSource } from '#administration/moving/open-source.ts';
import { choice, text, url } from '#core/platform/settings/setting-forms.ts';
import { IMPORT_FORMATS } from '#domain/mailbox-moves.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { knownImports } from '#mailstore/delivery/import-messages.ts';
import { asMib } from '#operations/backup/described.ts';
import { command, UsageError } from '#operations/command.ts';
import { openQuestions } from '#operations/questions.ts';

const POOL_MAX = 3;
const PASSWORD_FILE_MAX_BYTES = 4_096;
const PROBLEMS_SHOWN_MAX = 50;

export const importCommand = command({
  name: 'import',
  summary: 'bring mail from mbox, Maildir, an archive or an IMAP server into a mailbox',
  description:
    'Files messages with their folders, flags, keywords and dates into a mailbox, while the service runs. No event is recorded, no webhook is sent, nobody is asked. Mail counts for the quota; when it is full, the command says so and ends with 1. A message that was imported is not imported again (content, folder and date; of IMAP also UIDVALIDITY and UID), so after an interruption run the same command again. Links are not followed. Findings (exit code 3): what was not imported, or not as it was, each with its place.',
  arguments: {
    address: { text: 'address of the mailbox' },
    source: { text: 'a file or a folder; none with --imap', optional: true },
  },
  options: {
    format: {
      text: 'what the source is; default: found out, and with mbox the variant of each message',
      value: 'format',
      form: choice(...IMPORT_FORMATS),
    },
    imap: {
      text: 'server to import from, such as imaps://mail.example.org; with imap:// by STARTTLS, which is needed but for this machine',
      value: 'url',
      form: url('imaps:', 'imap:'),
    },
    user: { text: 'name to log in with at that server', value: 'name', form: text },
    passwordFile: { text: 'file with its password; default: asked for', value: 'file', form: text },
    insecure: { text: 'also without TLS, or with a certificate that cannot be checked' },
    dryRun: { text: 'read everything and say what would be imported' },
  },
  examples: [
    'import ada@agents.example /exports/ada',
    'import ada@agents.example ~/Mail/archive.mbox --dry-run',
    'import ada@agents.example --imap imaps://mail.example.org --user ada',
  ],
  async run(context) {
    const { address, source } = context.args;
    const { format, imap, user, passwordFile, insecure, dryRun } = context.options;
    if ((source === undefined) === (imap === undefined)) throw new UsageError('give either a source or --imap');
    if (imap !== undefined && (user === undefined || format !== undefined))
      throw new UsageError('--imap needs --user, and has no --format');
    const db = await context.database(POOL_MAX);
    const account = await requireMailbox(db, address);
    const from =
      imap === undefined || user === undefined
        ? openSource(source ?? '', format)
        : readImap({
            ...{ url: new URL(imap), user, insecure },
            password: await readPassword(passwordFile, context.signal),
            known: (digests) => knownImports(db, account.mailboxId, digests),
          });
    const notifier = openMailNotifier({ db, log: context.log, settings: context.settings('DATABASE_URL') });
    try {
      const report = await context.progress.step(`Import into ${account.address}`, (note) =>
        importMailbox({
          ...{ db, notifier, account, source: from, dryRun, signal: context.signal },
          onProgress: (shown) => note(shown, { passing: true }),
        }),
      );
      context.output({ address: account.address, dryRun, ...report }, described(report, dryRun));
      if (report.stopped !== null) return 'failed';
      return report.problemCount > 0 ? 'findings' : 'done';
    } finally {
      await notifier.close();
    }
  },
});

async function readPassword(file: string | undefined, signal: AbortSignal): Promise<string> {
  if (file !== undefined)
    return (await readWhole(await openOnDisk(file), PASSWORD_FILE_MAX_BYTES)).toString().replace(/\r?\n$/, '');
  const questions = openQuestions(process.stdin, process.stderr, signal);
  try {
    return await questions.ask({ text: 'Password', form: text, hidden: true });
  } finally {
    questions.close();
  }
}

function described({ imported, bytes, known, folders, problemCount, problems, stopped }: Imported, dryRun: boolean) {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  return [
    ...Object.entries(folders).map(([name, count]) => `${name}: ${count}`),
    `${imported} messages ${dryRun ? 'would be imported' : 'imported'} (${asMib(bytes)}); ${known} were imported before.`,
    ...(problemCount === 0 ? [] : ['', `${problemCount} to look at:`]),
    ...shown.map(({ where, problem }) => `  ${where}: ${problem}`),
    ...(problemCount > shown.length ? [`  … and ${problemCount - shown.length} more; --json has more of them`] : []),
    ...(stopped === null ? [] : ['', `Stopped: ${stopped}.`]),
  ].join('\n');
}
