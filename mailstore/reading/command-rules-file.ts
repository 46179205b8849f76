/** Rules of the operator in place of those of the service (COMMAND_RULES). */
import { readFileSync } from 'node:fs';
import { parseCommandRules } from '#mime/signals/command-rules.ts';
import { useCommandRules } from '#mime/signals/message-signals.ts';

/** Call it before messages are read. @throws {Error} that names the setting and what is wrong with the file */
export function loadCommandRules(file: string | undefined): void {
  if (file === undefined) return;
  try {
    useCommandRules(parseCommandRules(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`COMMAND_RULES: ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
