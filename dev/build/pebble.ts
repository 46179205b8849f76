/** Pebble, the certificate authority of tests: built once per user by `go install`, in the cache folder (`npm run pebble`). */
import { fileURLToPath } from 'node:url';
import { goProgram } from './go-program.ts';

const pebble = goProgram('pebble', 'github.com/letsencrypt/pebble/v2/cmd/pebble', '2.10.3');

/** @returns undefined: it was not built yet */
export const pebbleProgram = (): string | undefined => pebble.find();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  pebble.build();
  process.stdout.write(`${pebbleProgram()}\n`);
}
