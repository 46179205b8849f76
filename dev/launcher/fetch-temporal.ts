/** `npm run temporal`: finds, downloads or builds the `temporal` program and prints its path, without starting it. */
import { temporalProgram } from './temporal-program.ts';

try {
  const program = await temporalProgram({
    configured: process.env['TEMPORAL_CLI'] || undefined,
    onProgress: (text) => void process.stderr.write(`${text}\n`),
  });
  process.stdout.write(`${program}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
