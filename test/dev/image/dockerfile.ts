/** Reads a Dockerfile and a .dockerignore, as far as ours use them. */
import path from 'node:path';

export interface Instruction {
  readonly name: string;
  /** Behind the name and its options. */
  readonly text: string;
  readonly options: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly name: string | undefined;
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** @returns the stages in their order, and the default of each ARG before them */
export function readDockerfile(source: string): { stages: Stage[]; args: Record<string, string> } {
  const lines = source
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n');
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  const args: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'ARG' && stages.length === 0) {
      const [key = '', value = ''] = rest.split(/=(.*)/s);
      args[key] = value;
    } else if (name === 'FROM') {
      const [, from = '', stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? [];
      stages.push({ name: stage, from, instructions: [] });
    } else {
      const text = rest.replace(/^(?:--[\w-]+=\S+\s+)+/, '');
      const options = Object.fromEntries(
        [...rest.slice(0, rest.length - text.length).matchAll(/--([\w-]+)=(\S+)/g)].map(([, key, value]) => [
          key,
          value,
        ]),
      );
      stages.at(-1)?.instructions.push({ name, text: text.trim(), options });
    }
  }
  return { stages, args };
}

/** `*` and `?` within a name, `**` across folders, each pattern relative to the root. */
function patternRegex(pattern: string): RegExp {
  const body = path.posix
    .normalize(pattern)
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*\*\/?|\*|\?/g, (wildcard) => {
      if (wildcard === '**/') return '(?:.*/)?';
      if (wildcard === '**') return '.*';
      return wildcard === '*' ? '[^/]*' : '[^/]';
    });
  // A pattern that names a folder covers everything below it.
  return new RegExp(`^${body}(?:/.*)?$`);
}

/** @returns whether .dockerignore lets a file into the build: the last line that fits decides */
export function letsThrough(dockerignore: string): (file: string) => boolean {
  const rules = dockerignore
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ passes: line.startsWith('!'), regex: patternRegex(line.replace(/^!/, '').replace(/^\//, '')) }));
  return (file) => rules.findLast(({ regex }) => regex.test(file))?.passes ?? true;
}
