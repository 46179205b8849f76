/**
 * What a command of `agent-mailbox-admin` declares. Help, reading of arguments and docs/operations/commands.md are made
 * from the declaration; the command itself only does its work with what the context gives it.
 *
 * Rules for every command: it may run while the service runs, may be interrupted and run again; it writes its answer by
 * `output` alone, once, and everything else to standard error.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import type { SettingName, Settings } from '#core/platform/settings/settings.ts';
import type { Database } from '#db/database.ts';
import type { Progress } from './progress.ts';

/** How a command ended, as exit code. `findings`: it worked, and found what somebody must look at. */
export const EXIT = { done: 0, failed: 1, usage: 2, findings: 3 } as const;
export type Outcome = Exclude<keyof typeof EXIT, 'usage'>;

export interface Argument {
  readonly text: string;
  readonly optional?: true;
  /** Reads and checks the text; absent: any text. */
  readonly form?: Form<unknown>;
}

export interface Option {
  readonly text: string;
  /** Word for the value in the usage. */
  readonly value?: string;
  /** Reads and checks the value; absent: a switch without a value. */
  readonly form?: Form<unknown>;
  /** Text form of the default. */
  readonly fallback?: string;
}

/** By name, in the order of the command line. */
export type Arguments = Readonly<Record<string, Argument>>;
/** By name: `acceptChanges` is `--accept-changes`. */
export type Options = Readonly<Record<string, Option>>;

type Read<Declared, Otherwise> = Declared extends { readonly form: Form<infer Value> } ? Value : Otherwise;
type ArgumentValues<Declared extends Arguments> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { readonly optional: true }
    ? Read<Declared[Name], string> | undefined
    : Read<Declared[Name], string>;
};
type OptionValues<Declared extends Options> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { readonly form: unknown }
    ? Declared[Name] extends { readonly fallback: string }
      ? Read<Declared[Name], never>
      : Read<Declared[Name], never> | undefined
    : boolean;
};

/** Settings of which these are set. */
export type SettingsWith<Name extends SettingName> = Settings & {
  readonly [Each in Name]-?: Exclude<Settings[Each], undefined>;
};

export interface CommandContext<TheArguments extends Arguments = Arguments, TheOptions extends Options = Options> {
  readonly args: ArgumentValues<TheArguments>;
  readonly options: OptionValues<TheOptions>;
  /** Environment variables; below them the settings file; below it the settings of a running `npm start` in DATA_DIR. */
  readonly environment: Readonly<Record<string, string>>;
  /** On standard error. */
  readonly progress: Progress;
  /** JSON lines on standard error. @throws {SettingsError} */
  readonly log: Logger;
  /** Aborted by SIGINT and SIGTERM. A command that runs long stops at the next safe place; a second signal ends it. */
  readonly signal: AbortSignal;
  /** @throws {SettingsError} if a setting is wrong, or one of `needed` is not set */
  settings<Name extends SettingName = never>(...needed: readonly Name[]): SettingsWith<Name>;
  /**
   * The database of DATABASE_URL; closed after the command.
   *
   * @param poolMax connections at most
   * @throws {SettingsError} if it is not set, cannot be reached, or is no database for this service
   */
  database(poolMax: number): Promise<Database>;
  /** The database with secrets and pepper, as use cases take them; closed after the command. @throws {SettingsError} */
  services(): Promise<Services>;
  /**
   * Writes the answer to standard output.
   *
   * @param value for `--json`
   * @param text otherwise, without the last line break
   */
  output(value: unknown, text: string): void;
}

export interface Command<TheArguments extends Arguments = Arguments, TheOptions extends Options = Options> {
  /** One word, or a group and a word: `organizations list`. */
  readonly name: string;
  /** One line, in the list of commands. */
  readonly summary: string;
  /** Some sentences: what it changes, what it needs, what its findings are. Lines are wrapped by the help. */
  readonly description: string;
  readonly arguments: TheArguments;
  readonly options: TheOptions;
  /** Command lines after the name of the program. */
  readonly examples?: readonly string[];
  run(context: CommandContext<TheArguments, TheOptions>): Promise<Outcome>;
}

/** Types the context of a command by its declaration. */
export const command = <const TheArguments extends Arguments, const TheOptions extends Options>(
  declared: Command<TheArguments, TheOptions>,
): Command => declared;

/** An error whose message alone says what is wrong and what to do. Other errors are shown with their stack. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

/** A `CommandError` of arguments that do not fit: exit code 2. */
export class UsageError extends CommandError {}

/** `acceptChanges` as `--accept-changes`. */
export const optionFlag = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
