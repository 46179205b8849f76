import { readFileSync } from 'node:fs';

/** Version of this installation, from its package.json. */
export const productVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string })
    .version;
