/** `erase …` and `organizations delete`: content of a mailbox, an organization or a correspondent is gone, with a receipt. */

import {
  correspondentTarget,
  type Erased,
  erase,
  mailboxTarget,
  organizationTarget,
  rehearse,
  type Target,
} from '#administration/erasure/erase.ts';
import type { Counts } from '#administration/erasure/portions.ts';
import type { CheckedReceipt } from '#administration/erasure/receipt.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Form, text } from '#core/platform/settings/setting-forms.ts';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';
import { passingStep } from '#operations/backup/described.ts';
import { type CommandContext, CommandError, command, type Outcome, UsageError } from '#operations/command.ts';
import { targetsAgain } from '#operations/erasure/erase-again.ts';
import { backupsIn } from '#operations/erasure/known-backups.ts';
import { readReceipts, requireReceipt } from '#operations/erasure/read-receipts.ts';
import { writeReceipt } from '#operations/erasure/write-receipt.ts';

const emailAddress: Form<string> = {
  takes: 'an e-mail address',
  parse: (value) => (isEmailAddress(value) ? value : undefined),
};

const common = {
  dryRun: { text: 'only count what would be erased' },
  yes: { text: 'erase: it cannot be undone' },
  backups: {
    text: 'a backup, or a folder of backups: those that still contain it are named in the receipt',
    value: 'folder',
    form: text,
  },
} as const;
const receiptOption = {
  receipt: { text: 'where the receipt is written (default: DATA_DIR/erasures/<id>.json)', value: 'file', form: text },
} as const;

type ErasingContext = Pick<CommandContext, 'progress' | 'signal' | 'services' | 'settings' | 'output'>;
interface ErasingOptions {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly backups: string | undefined;
  readonly receipt?: string | undefined;
}

const requireYes = ({ dryRun, yes }: ErasingOptions): void => {
  if (!dryRun && !yes) throw new UsageError('Erasing cannot be undone. Look with --dry-run, then add --yes');
};

const countLines = (counts: Counts): string[] => {
  const width = Math.max(0, ...Object.keys(counts).map((table) => table.length));
  return Object.entries(counts).map(([table, count]) => `  ${table.padEnd(width)}  ${count}`);
};

function erasedText({ statement, before }: Erased, file: string): string {
  const { id, kind, counts, workflows, backups, finishedAt } = statement;
  return [
    before
      ? `The ${kind} was erased ${finishedAt} (${id}). Nothing was left to be erased.`
      : `The ${kind} is erased (${id}). Rows by table:`,
    ...countLines(counts),
    `Workflows signalled: ${workflows.signalled}${workflows.left === null ? '' : `. The others end when their own timers do: ${workflows.left}`}`,
    backups === null
      ? 'Backups that were made before still contain it. They are named with --backups.'
      : backups.length === 0
        ? 'No backup of the given folder was made before.'
        : 'These backups still contain it. Delete them, or after their restore: erase again.',
    ...(backups ?? []).map(({ folder, takenAt }) => `  ${takenAt}  ${folder}`),
    `Receipt: ${file}. Keep a copy where no restore takes it away.`,
  ].join('\n');
}

async function runErasure(
  context: ErasingContext,
  options: ErasingOptions,
  find: (services: Services) => Promise<Target>,
): Promise<Outcome> {
  requireYes(options);
  const services = await context.services();
  const target = await find(services);
  if (options.dryRun) {
    const counts = await passingStep(context, 'Counting', (note) => rehearse(services, target, note));
    context.output(
      { dryRun: true, kind: target.kind, subject: target.subject, counts },
      Object.keys(counts).length === 0
        ? 'Nothing would be erased.'
        : ['Would be erased, rows by table:', ...countLines(counts)].join('\n'),
    );
    return 'done';
  }
  // Before anything is erased: a folder that cannot be read must be named differently.
  const backups = options.backups === undefined ? undefined : await backupsIn(options.backups);
  const erased = await passingStep(context, `Erasing the ${target.kind}`, (note) =>
    erase(services, target, { backups, onPortion: note, despiteHolds: false }),
  );
  const file = writeReceipt(context.settings().DATA_DIR, options.receipt, erased);
  context.output({ ...erased.statement, before: erased.before, receipt: file }, erasedText(erased, file));
  return 'done';
}

const RESUMES =
  'It works in short portions beside the running service; interrupted, the same command goes on. A receipt with the number of rows of each table is signed and written.';

export const eraseMailboxCommand = command({
  name: 'erase mailbox',
  summary: 'erase a mailbox with everything it has and that was written about it',
  description: `Closes the mailbox, then erases its mail, drafts, held and outgoing messages, files, search texts, tokens, webhooks with what they sent, and what the logs say about it. Other mailboxes keep their own copies. No webhook is sent of it: where other systems must know, delete the mailbox first. ${RESUMES}`,
  arguments: { mailbox: { text: 'id or address' } },
  options: { ...common, ...receiptOption },
  examples: ['erase mailbox support@example.org --dry-run', 'erase mailbox mbx_… --yes --backups /backups'],
  run: (context) => runErasure(context, context.options, ({ db }) => mailboxTarget(db, context.args.mailbox)),
});

const organizationErasure = {
  description: `Suspends the organization, so that nobody reaches it, then erases its mailboxes, domains, keys, webhooks, logs, and the accounts of people who are members of no other organization. ${RESUMES}`,
  arguments: { organization: { text: 'id or slug' } },
  options: { ...common, ...receiptOption },
} as const;

export const eraseOrganizationCommand = command({
  name: 'erase organization',
  summary: 'erase an organization with everything it has',
  ...organizationErasure,
  examples: ['erase organization example --dry-run', 'erase organization example --yes'],
  run: (context) => runErasure(context, context.options, ({ db }) => organizationTarget(db, context.args.organization)),
});

export const deleteOrganizationCommand = command({
  name: 'organizations delete',
  summary: 'delete an organization with erasure, as `erase organization` does',
  ...organizationErasure,
  examples: ['organizations delete example --yes'],
  run: (context) => runErasure(context, context.options, ({ db }) => organizationTarget(db, context.args.organization)),
});

export const eraseCorrespondentCommand = command({
  name: 'erase correspondent',
  summary: 'erase the mail of a person outside, and the address in logs and lists',
  description: `Erases every message whose header or envelope has the address, in all mailboxes, also those to several people, sent or not; what webhooks sent about it; and the address in logs and lists. What others wrote in the text of their mail stays. That nothing may be sent to the address (suppression) stays, as a hash of it. ${RESUMES}`,
  arguments: { address: { text: 'address of the person', form: emailAddress } },
  options: {
    ...common,
    ...receiptOption,
    organization: { text: 'only in this organization (default: in all)', value: 'id or slug', form: text },
  },
  examples: ['erase correspondent ann@example.net --organization example --yes'],
  run: (context) =>
    runErasure(context, context.options, async (services) => {
      const { organization } = context.options;
      const within = organization === undefined ? undefined : await organizationTarget(services.db, organization);
      return correspondentTarget(services, context.args.address, within?.subject.organizationId ?? null);
    }),
});

const SIGNED_TEXTS = {
  own: 'signed by this installation',
  other: 'signed, but NOT by this installation with its present CREDENTIAL_PEPPER',
  broken: 'NOT valid: it was changed',
} as const;

const checked = ({ statement, signed }: CheckedReceipt, file: string) => ({ file, signed, ...statement });

export const eraseVerifyCommand = command({
  name: 'erase verify',
  summary: 'check the signature of a receipt, or of all in a folder',
  description:
    'Says what each receipt is about, and whether this installation signed it. Changes nothing. Findings (exit code 3): a receipt that is changed, or of another installation.',
  arguments: { receipt: { text: 'file or folder' } },
  options: {},
  async run(context) {
    const { CREDENTIAL_PEPPER } = context.settings('CREDENTIAL_PEPPER');
    const receipts = (await readReceipts(context.args.receipt)).map(({ file, text: content }) =>
      checked(requireReceipt(CREDENTIAL_PEPPER, content), file),
    );
    context.output(
      { receipts },
      receipts
        .flatMap(({ file, signed, id, kind, finishedAt, counts }) => [
          `${signed === 'own' ? '✔' : '✖'} ${file}: ${id}, ${kind}, ${finishedAt}; ${SIGNED_TEXTS[signed]}`,
          ...countLines(counts),
        ])
        .join('\n') || 'There is no receipt.',
    );
    return receipts.every(({ signed }) => signed === 'own') ? 'done' : 'findings';
  },
});

export const eraseAgainCommand = command({
  name: 'erase again',
  summary: 'after a restore: erase what was erased since the backup',
  description:
    'Reads receipts of this installation and erases what the restored database has again: mailboxes and organizations by their ids, correspondents by the hash of their address. Run it before the processes start. What the database does not have is left out, so all receipts may be given, and the command may be run twice.',
  arguments: { receipts: { text: 'a receipt, or a folder of receipts' } },
  options: common,
  examples: ['erase again /safe/erasures --yes'],
  async run(context) {
    requireYes(context.options);
    const services = await context.services();
    const statements = (await readReceipts(context.args.receipts)).map(({ file, text: content }) => {
      const { statement, signed } = requireReceipt(services.pepper, content);
      if (signed !== 'own') throw new CommandError(`${file}: ${SIGNED_TEXTS[signed]}. Nothing was erased`);
      return statement;
    });
    const targets = await passingStep(context, 'Looking', () => targetsAgain(services, statements));
    const { backups: folder } = context.options;
    const backups = folder === undefined ? undefined : await backupsIn(folder);
    const done: object[] = [];
    const lines: string[] = [];
    for (const target of targets) {
      if (context.options.dryRun) {
        const counts = await rehearse(services, target, () => {});
        done.push({ kind: target.kind, subject: target.subject, counts });
        lines.push(`Would be erased again: a ${target.kind}`, ...countLines(counts));
        continue;
      }
      const erased = await passingStep(context, `Erasing the ${target.kind}`, (note) =>
        erase(services, target, { backups, onPortion: note, despiteHolds: true }),
      );
      const file = writeReceipt(context.settings().DATA_DIR, undefined, erased);
      done.push({ ...erased.statement, receipt: file });
      lines.push(erasedText(erased, file));
    }
    context.output(
      { dryRun: context.options.dryRun, receipts: statements.length, again: done },
      lines.join('\n') || 'The database has nothing of what was erased.',
    );
    return 'done';
  },
});
