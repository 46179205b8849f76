/** `docs/operations/commands.md`, made from the declarations of the commands of operators. */
import { type Command, EXIT, optionFlag } from '#operations/command.ts';
import { allCommands, PROGRAM_NAME } from '#operations/program.ts';

const INTRODUCTION = `# Commands for operators

<!-- Generated from operations/commands/ by \`npm run generate\`. Change it there. -->

One program operates an installation:

| where | command |
|---|---|
| a clone | \`npx ${PROGRAM_NAME} …\` |
| containers | \`docker compose run --rm migrate ${PROGRAM_NAME} …\` |

Settings are [those of the service](../configuration.md). Without a DATABASE_URL, or with the same one, those of a running \`npm start\`
in DATA_DIR are used where one is not given.

Every command may run while the service runs, may be interrupted by Ctrl-C or SIGTERM, and may be run again. It shows its usage with
\`--help\`. Its answer is on standard output, as one JSON value with \`--json\`; progress and warnings are on standard error, and with
\`--json\` an error is its last line: \`{"error":{"command":"…","message":"…"}}\`.

| exit code | meaning |
|---|---|
| ${EXIT.done} | done |
| ${EXIT.failed} | failed; the error says what to do |
| ${EXIT.usage} | wrong arguments |
| ${EXIT.findings} | done, and found what somebody must look at |

`;

/** One cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

function section(each: Command): string {
  const words = Object.entries(each.arguments).map(([name, { optional }]) =>
    optional === true ? `[${name}]` : `<${name}>`,
  );
  const rows = [
    ...Object.entries(each.arguments).map(([name, { text, form }]) => [
      `\`<${name}>\``,
      [text, ...(form === undefined ? [] : [form.takes])].join('; '),
    ]),
    ...Object.entries(each.options).map(([name, { text, value, form, fallback }]) => [
      `\`${optionFlag(name)}${form === undefined ? '' : ` <${value ?? 'value'}>`}\``,
      [
        text,
        ...(form === undefined || form.takes === 'text' ? [] : [form.takes]),
        ...(fallback === undefined ? [] : [`default: \`${fallback}\``]),
      ].join('; '),
    ]),
  ];
  const usage = [PROGRAM_NAME, each.name, ...words].join(' ');
  return [
    `## ${each.name}`,
    '',
    '```sh',
    usage,
    ...(each.examples ?? []).map((line) => `${PROGRAM_NAME} ${line}`),
    '```',
    '',
    each.description,
    ...(rows.length === 0 ? [] : ['', '| argument | meaning |', '|---|---|']),
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
    '',
  ].join('\n');
}

export const commandsDocument = async (): Promise<string> =>
  INTRODUCTION + (await allCommands()).map(section).join('\n');
