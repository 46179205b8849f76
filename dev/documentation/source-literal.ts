/** Values as the source code of a language. */

const LINE_MAX = 76;

const NAME = /^[A-Za-z_$][\w$]*$/;
const text = (value: string): string =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

/** A value of JSON as TypeScript: on one line if it is short. */
export function typeScriptLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const write = (inner: string): string[] =>
    Array.isArray(value)
      ? value.map((each) => typeScriptLiteral(each, inner))
      : Object.entries(value).map(
          ([name, each]) => `${NAME.test(name) ? name : text(name)}: ${typeScriptLiteral(each, inner)}`,
        );
  const parts = write(indent);
  if (parts.length === 0) return `${open}${close}`;
  const space = open === '{' ? ' ' : '';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= LINE_MAX && !line.includes('\n')) return line;
  const inner = `${indent}  `;
  return `${open}\n${write(inner)
    .map((part) => `${inner}${part},\n`)
    .join('')}${indent}${close}`;
}

/** A word of a shell. */
export const shellWord = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
