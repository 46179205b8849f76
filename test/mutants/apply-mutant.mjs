// Loaded before a test file, and by the programs that it starts, whatever their Node: gives one module another source.
// The file itself stays as it is.
import { readFileSync } from 'node:fs';
import * as module from 'node:module';

const { MUTANT_OF: url, MUTANT_SOURCE: sourceFile } = process.env;

if (url !== undefined && sourceFile !== undefined) {
  const source = readFileSync(sourceFile, 'utf8');
  module.registerHooks?.({
    load(asked, context, next) {
      const loaded = next(asked, context);
      return asked.split('?')[0] === url ? { ...loaded, source } : loaded;
    },
  });
}
