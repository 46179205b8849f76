/** CHANGELOG.md as "Keep a Changelog" describes it: sections of versions, in them groups such as Added and Fixed. */

const UNRELEASED = 'Unreleased';
const GROUPS = ['', 'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

interface Section {
  /** `Unreleased` or a version. */
  readonly name: string;
  /** ISO 8601 date, or undefined: not released. */
  readonly date: string | undefined;
  readonly text: string;
}

function parse(text: string): { intro: string; sections: Section[] } {
  const [intro = '', ...parts] = text.split(/^(?=## )/m);
  const sections = parts.map((part) => {
    const [, name = '', date, body = ''] =
      /^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2})|[^\n]*)\n([^]*)$/.exec(part) ?? [];
    if (name === '')
      throw new Error(`CHANGELOG.md: "${part.split('\n')[0]}" is not of the form "## [0.2.0] - 2026-11-22".`);
    return { name, date, text: body.trim() };
  });
  return { intro: intro.trim(), sections };
}

/** Entries by group; a group of both has the entries of both. */
function merged(...texts: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const text of texts)
    for (const part of text.split(/^(?=### )/m)) {
      const [, name = '', entries = ''] = /^(?:### ([^\n]+)\n)?([^]*)$/.exec(part) ?? [];
      if (entries.trim() !== '') groups.set(name, [...(groups.get(name) ?? []), entries.trim()]);
    }
  const place = (name: string) => (GROUPS.includes(name) ? GROUPS.indexOf(name) : GROUPS.length);
  return [...groups]
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([name, entries]) => `${name === '' ? '' : `### ${name}\n\n`}${entries.join('\n')}`)
    .join('\n\n');
}

/** The text below the heading of a version. @throws if there is no such section */
export function notesOf(changelog: string, version: string): string {
  const section = parse(changelog).sections.find(({ name }) => name === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  return section.text;
}

/**
 * Moves what is unreleased into the section of a version. A section of that version without a date is completed by it.
 *
 * @param date ISO 8601, `2026-11-22`
 * @throws if the version is released already, another one waits for its release, or there is nothing to release
 */
export function releaseChangelog(changelog: string, version: string, date: string): string {
  const { intro, sections } = parse(changelog);
  const [first, ...others] = sections;
  if (first?.name !== UNRELEASED) throw new Error(`CHANGELOG.md: the first section must be "## [${UNRELEASED}]".`);
  const prepared = others.find(({ name }) => name === version);
  if (prepared?.date !== undefined) throw new Error(`CHANGELOG.md: ${version} was released on ${prepared.date}.`);
  const waiting = others.find((section) => section !== prepared && section.date === undefined);
  if (waiting !== undefined) throw new Error(`CHANGELOG.md: ${waiting.name} has no date. Release it first.`);
  const notes = merged(prepared?.text ?? '', first.text);
  if (notes === '') throw new Error(`CHANGELOG.md: nothing is listed under "${UNRELEASED}".`);
  const rest = others
    .filter((section) => section !== prepared)
    .map((section) => `## [${section.name}] - ${section.date}\n\n${section.text}`);
  return `${[intro, `## [${UNRELEASED}]`, `## [${version}] - ${date}\n\n${notes}`, ...rest].join('\n\n')}\n`;
}
