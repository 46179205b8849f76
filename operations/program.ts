/**
 * The commands of `agent-mailbox-admin`, and how a command line is read. Only the command that it names is loaded; help
 * and the documentation load all.
 */
import { Argument as CommanderArgument, Command as CommanderCommand, InvalidArgumentError } from 'commander';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import { type Command, EXIT, optionFlag } from './command.ts';

/** By name, in the order of help and documentation. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  setup: async () => (await import('./commands/setup.ts')).setupCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  'dns-records': async () => (await import('./commands/dns-records.ts')).dnsRecordsCommand,
  'domain-reports': async () => (await import('./commands/domain-reports.ts')).domainReportsCommand,
  'dkim list': async () => (await import('./commands/dkim.ts')).listDkimCommand,
  'dkim rotate': async () => (await import('./commands/dkim.ts')).rotateDkimCommand,
  'dkim retire': async () => (await import('./commands/dkim.ts')).retireDkimCommand,
  'certificates list': async () => (await import('./commands/certificates.ts')).listCertificatesCommand,
  'certificates order': async () => (await import('./commands/certificates.ts')).orderCertificatesCommand,
  'answer-probes': async () => (await import('./commands/answer-probes.ts')).answerProbesCommand,
  prove: async () => (await import('./commands/prove.ts')).proveCommand,
  prober: async () => (await import('./commands/prober.ts')).proberCommand,
  'mail find': async () => (await import('./commands/mail-find.ts')).mailFindCommand,
  'mail queue': async () => (await import('./commands/mail-queue.ts')).mailQueueCommand,
  'mail hold': async () => (await import('./commands/mail-control.ts')).mailHoldCommand,
  'mail release': async () => (await import('./commands/mail-control.ts')).mailReleaseCommand,
  'mail retry': async () => (await import('./commands/mail-control.ts')).mailRetryCommand,
  'mail drop': async () => (await import('./commands/mail-control.ts')).mailDropCommand,
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand,
  'check-mailstore': async () => (await import('./commands/check-mailstore.ts')).checkMailstoreCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  reseal: async () => (await import('./commands/reseal.ts')).resealCommand,
  'organizations list': async () => (await import('./commands/organizations.ts')).listOrganizationsCommand,
  'organizations show': async () => (await import('./commands/organizations.ts')).showOrganizationCommand,
  'organizations create': async () => (await import('./commands/organizations.ts')).createOrganizationCommand,
  'organizations plan': async () => (await import('./commands/organizations.ts')).planOrganizationCommand,
  'organizations suspend': async () => (await import('./commands/organizations.ts')).suspendOrganizationCommand,
  'organizations resume': async () => (await import('./commands/organizations.ts')).resumeOrganizationCommand,
  'blobs status': async () => (await import('./commands/blobs.ts')).blobsStatusCommand,
  'blobs move': async () => (await import('./commands/blobs.ts')).blobsMoveCommand,
  'legal-holds list': async () => (await import('./commands/legal-holds.ts')).listLegalHoldsCommand,
  'legal-holds set': async () => (await import('./commands/legal-holds.ts')).setLegalHoldCommand,
  'legal-holds lift': async () => (await import('./commands/legal-holds.ts')).liftLegalHoldCommand,
  'organizations delete': async () => (await import('./commands/erase.ts')).deleteOrganizationCommand,
  'erase mailbox': async () => (await import('./commands/erase.ts')).eraseMailboxCommand,
  'erase organization': async () => (await import('./commands/erase.ts')).eraseOrganizationCommand,
  'erase correspondent': async () => (await import('./commands/erase.ts')).eraseCorrespondentCommand,
  'erase verify': async () => (await import('./commands/erase.ts')).eraseVerifyCommand,
  'erase again': async () => (await import('./commands/erase.ts')).eraseAgainCommand,
  'reset-password': async () => (await import('./commands/reset-password.ts')).resetPasswordCommand,
};

export const PROGRAM_NAME = 'agent-mailbox-admin';

export const PROGRAM_NOTES = `Each command may run while the service runs, may be interrupted (Ctrl-C), and may be run again.
Settings are those of the service (docs/configuration.md). Where a setting is not given, that of
a running \`npm start\` in DATA_DIR is used.

Exit codes: ${EXIT.done} done, ${EXIT.failed} failed, ${EXIT.usage} wrong arguments, ${EXIT.findings} done, and found what somebody must look at.`;

/** All commands. */
export const allCommands = (): Promise<Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()));

/** The command that the arguments name, in one word or two; otherwise all. */
async function commandsFor(args: readonly string[]): Promise<Command[]> {
  const words = args.filter((each) => !each.startsWith('-'));
  const load = COMMANDS[`${words[0]} ${words[1]}`] ?? COMMANDS[words[0] ?? ''];
  return load === undefined || words[0] === 'help' ? allCommands() : [await load()];
}

/** A value that is read by its form. */
const reading =
  ({ takes, parse }: Form<unknown>) =>
  (text: string): unknown => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It takes ${takes.replaceAll('`', '')}.`);
    return value;
  };

/** What was read from a command line. */
export interface Invocation {
  readonly command: Command;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

function addCommand(parent: CommanderCommand, declared: Command, onCommand: (invocation: Invocation) => void): void {
  const added = parent
    .command(declared.name.split(' ').at(-1) ?? '')
    .summary(declared.summary)
    .description(declared.description);
  const names = Object.keys(declared.arguments);
  for (const [name, { text, optional, form }] of Object.entries(declared.arguments)) {
    const argument = new CommanderArgument(optional === true ? `[${name}]` : `<${name}>`, text);
    added.addArgument(form === undefined ? argument : argument.argParser(reading(form)));
  }
  for (const [name, { text, value, form, fallback }] of Object.entries(declared.options))
    if (form === undefined) added.option(optionFlag(name), text);
    else {
      const flags = `${optionFlag(name)} <${value ?? 'value'}>`;
      if (fallback === undefined) added.option(flags, text, reading(form));
      else added.option(flags, `${text} (default: ${fallback})`, reading(form), form.parse(fallback));
    }
  if (declared.examples !== undefined)
    added.addHelpText(
      'after',
      `\nExamples:\n${declared.examples.map((each) => `  ${PROGRAM_NAME} ${each}`).join('\n')}`,
    );
  added.action((...given: unknown[]) =>
    onCommand({
      command: declared,
      args: Object.fromEntries(names.map((name, index) => [name, given[index]])),
      options: Object.fromEntries(
        Object.entries(declared.options).map(([name, { form }]) => {
          const value: unknown = added.getOptionValue(name);
          return [name, form === undefined ? value === true : value];
        }),
      ),
    }),
  );
}

/** Commander ends the process itself unless each command is configured to throw. */
function throwing(each: CommanderCommand): void {
  each.exitOverride().configureOutput({ outputError: () => {} });
  for (const child of each.commands) throwing(child);
}

/**
 * @param args what the commands are loaded for; without any: all
 * @param onCommand called by `parse` with what was read
 */
export async function adminProgram(
  args: readonly string[],
  version: string,
  onCommand: (invocation: Invocation) => void,
): Promise<CommanderCommand> {
  const program = new CommanderCommand(PROGRAM_NAME)
    .description('Operate an installation of Agent Mailbox.')
    .version(version)
    .option('--json', 'write the answer as JSON, and an error as one line of JSON on standard error')
    .helpCommand('help [command]', 'show the usage of a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .addHelpText('after', `\n${PROGRAM_NOTES}`);
  for (const declared of await commandsFor(args)) {
    const [group = '', word] = declared.name.split(' ');
    const parent =
      word === undefined ? program : (program.commands.find((each) => each.name() === group) ?? program.command(group));
    addCommand(parent, declared, onCommand);
  }
  throwing(program);
  return program;
}
