/** `agent-mailbox-admin`: the commands of operators. Their declarations are in `commands/`, the frame in `command.ts`. */
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { MovingError } from '#administration/moving/moving-error.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { UnknownSchemaError } from '#db/migrate.ts';
import { CatalogueError } from '#domain/errors.ts';
import { CommandError, EXIT, UsageError } from './command.ts';
import { openContext } from './context.ts';
import { adminProgram, type Invocation, PROGRAM_NAME } from './program.ts';

const args = process.argv.slice(2);
const json = args.includes('--json');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};
// The reader of a pipe, such as `head`, may have enough before the end.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed),
);

/** @returns the exit code */
async function run({ command, args: read, options }: Invocation): Promise<number> {
  const stopping = new AbortController();
  // Once: a second signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const context = openContext(process.env, json, stopping.signal);
  try {
    // Members of the context are getters, which a copy would call.
    const whole = Object.create(context, { args: { value: read }, options: { value: options } });
    return EXIT[await command.run(whole)];
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    throw new CommandError(`interrupted (${reasonOf(error)}); it can be run again`);
  } finally {
    await context.close();
  }
}

function showError(name: string, error: unknown): void {
  const isExpected =
    error instanceof SettingsError ||
    error instanceof UnknownSchemaError ||
    error instanceof CommandError ||
    error instanceof MovingError ||
    error instanceof CatalogueError;
  const stack = error instanceof Error && !isExpected ? error.stack : undefined;
  const message = error instanceof CatalogueError ? `${error.message} ${error.fix}` : reasonOf(error);
  process.stderr.write(
    json
      ? `${JSON.stringify({ error: { command: name, message, ...(stack === undefined ? {} : { stack }) } })}\n`
      : `\n${name}: ${message}${stack === undefined ? '' : `\n${stack}`}\n`,
  );
}

let invocation: Invocation | undefined;
try {
  const program = await adminProgram(args, version, (read) => {
    invocation = read;
  });
  program.parse(args, { from: 'user' });
  if (invocation !== undefined) process.exitCode = await run(invocation);
} catch (error) {
  if (!(error instanceof CommanderError)) {
    showError(invocation?.command.name ?? PROGRAM_NAME, error);
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  } else if (error.exitCode !== 0 && error.code !== 'commander.help') {
    const text = error.message.replace(/^error: /, '');
    showError(PROGRAM_NAME, new CommandError(`${text}\nSee ${PROGRAM_NAME} help, or --help after the command.`));
    process.exitCode = EXIT.usage;
  } else process.exitCode = error.code === 'commander.help' ? EXIT.usage : EXIT.done;
}
