/** Rules of the operator in place of those of the service (COMMAND_RULES). */
import { readFileSync } from 'node:fs';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { parseCommandRules } from '#mime/signals/command-rules.ts';
import { useCommandRules } from '#mime/signals/message-signals.ts';

/** Call it before messages are read. @throws {SettingsError} if the file cannot be read, or is wrong */
export function loadCommandRules(file: string | undefined): void {
  if (file === undefined) return;
  try {
    useCommandRules(parseCommandRules(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new SettingsError([`COMMAND_RULES: ${file}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
