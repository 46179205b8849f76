/** Loaded before a test file by `run.ts`: gives one module another source. The file itself stays as it is. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const url = process.env['MUTANT_OF'];
const sourceFile = process.env['MUTANT_SOURCE'];

if (url !== undefined && sourceFile !== undefined) {
  const source = readFileSync(sourceFile, 'utf8');
  registerHooks({
    load(asked, context, next) {
      const loaded = next(asked, context);
      return asked.split('?')[0] === url ? { ...loaded, source } : loaded;
    },
  });
}
