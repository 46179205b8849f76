/**
 * What the commands share: their actions with an organization or a mailbox, their answers, and their options.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OrganizationClient, Page, PagedList } from '#client/index.ts';
import { CommandError } from './exit-codes.ts';
import { print, printUntrusted, recordText, tableText } from './output.ts';
import { type GlobalOptions, openOrganization } from './session.ts';

const LIST_DEFAULT = 50;
const LIST_MAX = 200;

/** What a command of an organization works with. */
interface Call<Options> {
  readonly service: OrganizationClient;
  /** The arguments in their order; a list of them is spread. */
  readonly args: readonly string[];
  readonly options: Options & GlobalOptions;
}

/** The answer, and how people read it. */
export interface Shown {
  readonly value: unknown;
  readonly text: () => string;
  /** Others may have written something in it. */
  readonly untrusted?: boolean;
}

/** The action of a command that works with the organization. */
export const withOrganization =
  <Options = unknown>(work: (call: Call<Options>) => Promise<Shown>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals<Options & GlobalOptions>();
    const { service } = openOrganization(options);
    const args = command.processedArgs.flat().filter((each) => typeof each === 'string');
    const { value, text, untrusted } = await work({ service, args, options });
    (untrusted === true ? printUntrusted : print)(options, value, text);
  };

/** Adds the command that lists things in pages. */
export const addList = <Item extends object>(
  parent: Command,
  description: string,
  columns: readonly string[],
  empty: string,
  list: (service: OrganizationClient, page: { limit: number; cursor?: string }) => PagedList<Item>,
): Command =>
  withListOptions(parent.command('list').description(description)).action(
    withOrganization<ListOptions>(({ service, options }) => listed(list(service, pageOf(options)), columns, empty)),
  );

/** Adds a command that ends something for good, once it is confirmed. */
export const addDeletion = (
  parent: Command,
  description: string,
  id: string,
  consequence: string,
  work: (service: OrganizationClient, id: string) => Promise<void>,
): Command =>
  parent
    .command('delete')
    .description(description)
    .argument('<id>', id)
    .option('--yes', 'confirm the deletion')
    .action(
      withOrganization<{ yes?: true }>(async ({ service, args: [id = ''], options }) => {
        requireYes(options, `${id} ${consequence}.`);
        await work(service, id);
        return said({ id, deleted: true }, `${id} is deleted.`);
      }),
    );

/** One thing with all its fields. */
export const shown = (value: object): Shown => ({ value, text: () => recordText(value) });

/** A sentence; in JSON the fields. */
export const said = (value: object, sentence: string): Shown => ({ value, text: () => sentence });

/** An answer in which others may have written something. */
export const ofOthers = async (answer: Shown | Promise<Shown>): Promise<Shown> => ({
  ...(await answer),
  untrusted: true,
});

export const listed = async <Item extends object>(
  list: PagedList<Item>,
  columns: readonly string[],
  empty: string,
): Promise<Shown> => {
  const page: Page<Item> = await list;
  const more = page.nextCursor === null ? '' : `\n\nMore: --cursor ${page.nextCursor}`;
  return { value: page, text: () => `${tableText(page.data, columns, empty)}${more}` };
};

export interface ListOptions {
  readonly limit: number;
  readonly cursor?: string;
}

export const withListOptions = (command: Command): Command =>
  command
    .option('--limit <n>', `maximum number, up to ${LIST_MAX}`, wholeNumber(LIST_MAX), LIST_DEFAULT)
    .option('--cursor <cursor>', 'the next page, as the list before shows it');

/** The page that the options ask for. */
export const pageOf = ({ limit, cursor }: ListOptions) => ({ limit, ...(cursor === undefined ? {} : { cursor }) });

/** Fields that were given. */
export const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };

/** Of commands that write a mail. */
export interface LetterOptions extends GlobalOptions {
  readonly from?: string;
  readonly to?: string[];
  readonly cc?: string[];
  readonly bcc?: string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly attach?: string[];
  readonly sendAt?: string;
}

export const collect = (value: string, before: string[] = []): string[] => [...before, value];

export const choice = (flags: string, description: string, values: readonly string[]): Option =>
  new Option(flags, description).choices([...values]);

/** What cannot be undone is asked for twice. @throws {CommandError} */
export function requireYes({ yes }: { readonly yes?: true }, what: string): void {
  if (yes === undefined)
    throw new CommandError('not_confirmed', `${what} This cannot be undone.`, 'Repeat the command with --yes.');
}

/** Reads a whole number from 1 to a maximum, for commander. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${max}`);
  };
}
