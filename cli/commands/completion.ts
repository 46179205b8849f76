/** `completion`: scripts for bash, zsh and fish that complete commands, options and their choices, made from the commands. */
import type { Command, Option } from 'commander';
import { choice } from '#cli/command.ts';
import { commandLine } from '#cli/program.ts';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the completion for a shell: agent-mailbox completion --shell bash >> ~/.bashrc')
    .addOption(choice('--shell <name>', 'which shell', SHELLS).makeOptionMandatory())
    .action(async ({ shell }: { shell: Shell }) => {
      process.stdout.write(shellCompletion(await commandLine(), shell));
    });
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Node {
  /** `webhooks listen`; empty: the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly Option[];
}

function* nodesOf(command: Command, path: readonly string[], inherited: readonly Option[]): Generator<Node> {
  const own = [...command.options, ...inherited].filter(({ hidden }) => !hidden);
  const commands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
  yield { path: path.join(' '), commands, options: own };
  for (const child of command.commands) yield* nodesOf(child, [...path, child.name()], own);
}

/** In single quotes of bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** In single quotes of fish. */
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
const flagsOf = ({ long, short }: Option): string[] => [long, short].filter((flag) => typeof flag === 'string');
const valuedFlags = (nodes: readonly Node[]): string[] => [
  ...new Set(nodes.flatMap(({ options }) => options.filter(hasValue).flatMap(flagsOf))),
];
const hasValue = ({ required, optional }: Option): boolean => required || optional;

/** @returns a script to be read by the shell */
function shellCompletion(program: Command, shell: Shell): string {
  const nodes = [...nodesOf(program, [], [])];
  return shell === 'fish' ? fish(program.name(), nodes) : bash(program.name(), nodes, shell);
}

/** zsh runs the completion of bash by `bashcompinit`. */
function bash(name: string, nodes: readonly Node[], shell: 'bash' | 'zsh'): string {
  const words = nodes.map(({ path, commands, options }) => {
    const all = [...commands.map((each) => each.name), ...options.flatMap(flagsOf)];
    return `    ${quoted(path)}) echo ${quoted(all.join(' '))} ;;`;
  });
  const groups = nodes.filter(({ commands }) => commands.length > 0).map(({ path }) => quoted(path));
  const valued = valuedFlags(nodes);
  const values = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ argChoices }) => argChoices !== undefined)
      .flatMap((option) =>
        flagsOf(option).map(
          (flag) => `    ${quoted(`${path} ${flag}`)}) echo ${quoted((option.argChoices ?? []).join(' '))} ;;`,
        ),
      ),
  );
  return `# Completion of ${name} for ${shell}.
${shell === 'zsh' ? 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n' : ''}_${name}_words() {
  case "$1" in
${words.join('\n')}
  esac
}
_${name}_choices() {
  case "$1" in
${values.join('\n')}
  esac
}
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' each skip=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    each="\${COMP_WORDS[i]}"
    if [ $skip -eq 1 ]; then skip=0; continue; fi
    case "$each" in
      ${valued.join('|')}) skip=1; continue ;;
      -*) continue ;;
    esac
    case "$path" in
      ${groups.join('|')}) path="\${path:+$path }$each" ;;
    esac
  done
  case "$before" in
    ${valued.join('|')})
      COMPREPLY=($(compgen -W "$(_${name}_choices "$path $before")" -- "$word"))
      [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$word"))
      return ;;
  esac
  COMPREPLY=($(compgen -W "$(_${name}_words "$path")" -- "$word"))
}
complete -F _${name} ${name}
`;
}

function fish(name: string, nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const condition = fishQuoted(`__${name.replaceAll('-', '_')}_at ${path === '' ? "''" : `"${path}"`}`);
    const start = `complete -c ${name} -n ${condition}`;
    return [
      ...commands.map((each) => `${start} -f -a ${fishQuoted(each.name)} -d ${fishQuoted(each.description)}`),
      ...options.map((option) => {
        const flags = [
          option.long === undefined ? '' : ` -l ${option.long?.slice(2)}`,
          option.short === undefined ? '' : ` -s ${option.short?.slice(1)}`,
        ];
        const choices = option.argChoices === undefined ? '' : ` -x -a ${fishQuoted(option.argChoices.join(' '))}`;
        const value = hasValue(option) && choices === '' ? ' -r' : choices;
        return `${start}${flags.join('')}${value} -d ${fishQuoted(option.description)}`;
      }),
    ];
  });
  const valued = valuedFlags(nodes);
  const leaves = nodes.filter(({ commands }) => commands.length === 0).map(({ path }) => fishQuoted(path));
  return `# Completion of ${name} for fish.
function __${name.replaceAll('-', '_')}_at
  set -l path
  set -l skip 0
  for each in (commandline -opc)[2..-1]
    if test $skip -eq 1
      set skip 0
      continue
    end
    if contains -- $each ${valued.join(' ')}
      set skip 1
    else if not string match -q -- '-*' $each; and not contains -- "$path" ${leaves.join(' ')}
      set path $path $each
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}
