/** All commands by verb. To add one: its family's file in `commands/` has the command, and lists it at its end. */
import type { Command } from './command.ts';
import { APPEND_COMMANDS } from './commands/append-and-copy.ts';
import { fetch } from './commands/fetch.ts';
import { LIST_COMMANDS } from './commands/list.ts';
import { LOGIN_COMMANDS } from './commands/login.ts';
import { FOLDER_COMMANDS } from './commands/manage-folders.ts';
import { SEARCH_COMMANDS } from './commands/search.ts';
import { SELECT_COMMANDS } from './commands/select.ts';
import { SESSION_COMMANDS } from './commands/session.ts';
import { STATUS_COMMANDS } from './commands/status-and-quota.ts';
import { STORE_COMMANDS } from './commands/store-and-expunge.ts';

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [
    ...SESSION_COMMANDS,
    ...LOGIN_COMMANDS,
    ...SELECT_COMMANDS,
    ...LIST_COMMANDS,
    ...FOLDER_COMMANDS,
    ...STATUS_COMMANDS,
    ...APPEND_COMMANDS,
    ...STORE_COMMANDS,
    ...SEARCH_COMMANDS,
    fetch,
  ].map((each) => [each.verb, each]),
);
