/** All commands by verb. To add one: a file in `commands/`, and its line here. */
import type { Command } from './command.ts';
import { append } from './commands/append.ts';
import { authenticate } from './commands/authenticate.ts';
import { capability } from './commands/capability.ts';
import { check } from './commands/check.ts';
import { close } from './commands/close.ts';
import { compress } from './commands/compress.ts';
import { copy } from './commands/copy.ts';
import { create } from './commands/create.ts';
import { deleteFolder } from './commands/delete.ts';
import { enable } from './commands/enable.ts';
import { examine } from './commands/examine.ts';
import { expunge } from './commands/expunge.ts';
import { fetch } from './commands/fetch.ts';
import { getquota } from './commands/getquota.ts';
import { getquotaroot } from './commands/getquotaroot.ts';
import { id } from './commands/id.ts';
import { idle } from './commands/idle.ts';
import { list } from './commands/list.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { lsub } from './commands/lsub.ts';
import { move } from './commands/move.ts';
import { namespace } from './commands/namespace.ts';
import { noop } from './commands/noop.ts';
import { rename } from './commands/rename.ts';
import { replace } from './commands/replace.ts';
import { search } from './commands/search.ts';
import { select } from './commands/select.ts';
import { sort } from './commands/sort.ts';
import { starttls } from './commands/starttls.ts';
import { status } from './commands/status.ts';
import { store } from './commands/store.ts';
import { subscribe } from './commands/subscribe.ts';
import { thread } from './commands/thread.ts';
import { unselect } from './commands/unselect.ts';
import { unsubscribe } from './commands/unsubscribe.ts';
import { xlist } from './commands/xlist.ts';

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [
    append,
    authenticate,
    capability,
    check,
    close,
    compress,
    copy,
    create,
    deleteFolder,
    enable,
    examine,
    expunge,
    fetch,
    getquota,
    getquotaroot,
    id,
    idle,
    list,
    login,
    logout,
    lsub,
    move,
    namespace,
    noop,
    rename,
    replace,
    search,
    select,
    sort,
    starttls,
    status,
    store,
    subscribe,
    thread,
    unselect,
    unsubscribe,
    xlist,
  ].map((each) => [each.verb, each]),
);
