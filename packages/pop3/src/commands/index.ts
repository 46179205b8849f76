import type { Pop3Command } from '#pop3/command.ts';
import { auth } from './auth.ts';
import { capa } from './capa.ts';
import { dele } from './dele.ts';
import { list } from './list.ts';
import { noop } from './noop.ts';
import { pass } from './pass.ts';
import { quit } from './quit.ts';
import { retr } from './retr.ts';
import { rset } from './rset.ts';
import { stat } from './stat.ts';
import { stls } from './stls.ts';
import { topCommand } from './top.ts';
import { uidl } from './uidl.ts';
import { user } from './user.ts';
import { utf8 } from './utf8.ts';

/** All commands by verb. */
export const pop3Commands: ReadonlyMap<string, Pop3Command> = new Map(
  [capa, stls, user, pass, auth, utf8, stat, list, uidl, retr, topCommand, dele, rset, noop, quit].map((command) => [
    command.verb,
    command,
  ]),
);
