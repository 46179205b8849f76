import { readFileSync } from 'node:fs';

/** Next to the sources in the project, next to the compiled files in the package. */
const PACKAGE = new URL('../package.json', import.meta.url);

/** Version of this software. */
export function version(): string {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
  return version;
}
