/**
 * The Versity S3 Gateway, the object storage of tests over a folder: built once per user by `go install`, in the cache
 * folder (`npm run versitygw`).
 */
import { fileURLToPath } from 'node:url';
import { goProgram } from './go-program.ts';

const versitygw = goProgram('versitygw', 'github.com/versity/versitygw/cmd/versitygw', '1.8.0');

/** @returns undefined: it was not built yet */
export const versitygwProgram = (): string | undefined => versitygw.find();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  versitygw.build();
  process.stdout.write(`${versitygwProgram()}\n`);
}
