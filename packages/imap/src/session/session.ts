/** The state of one IMAP connection, as commands see it. */

import type { Login, MailAccount, MailboxStore } from '@agent-mailbox/mail-store';
import type { EngineLog } from '@agent-mailbox/mail-store/engine-log';
import type { ConnectionLimits } from '#imap/limits.ts';
import type { ResponseWriter } from '#imap/wire/encoder.ts';
import type { Line } from '#imap/wire/tokenizer.ts';
import type { CapabilityHiding } from './capabilities.ts';
import type { Enabled, FolderWatch, SelectedFolder } from './selected-folder.ts';

export type State = 'not-authenticated' | 'authenticated' | 'selected';

/** The functions of the connection that commands may use. */
export interface ConnectionControl {
  readonly tls: boolean;
  readonly canStartTls: boolean;
  readonly compressed: boolean;
  /** Sends `+ text` at once. */
  continuation(text: string): void;
  /** The client's answer to `+`; undefined when the connection ended. */
  readLine(): Promise<Line | undefined>;
  /** A line if one is there; undefined after any wake-up: input, change of the folder, keep-alive, end. */
  lineOrWake(): Promise<{ readonly line?: Line; readonly ended: boolean; readonly keepalive: boolean }>;
  flush(): void;
  /** Runs when the tagged answer is written. */
  afterAnswer(action: () => Promise<void> | void): void;
  startTls(): Promise<void>;
  compress(): void;
  /** Ends the connection after the tagged answer; `bye` is sent before it. */
  logout(): void;
  /** Ends the connection with an untagged BYE after the tagged answer. */
  byeAfterAnswer(text: string): void;
  loggedIn(onClosed: (listener: () => void) => () => void): void;
  /** Wakes `lineOrWake`. */
  wake(): void;
}

export interface SessionOptions {
  readonly out: ResponseWriter;
  readonly control: ConnectionControl;
  readonly login: Login;
  readonly limits: ConnectionLimits;
  readonly remoteAddress: string;
  readonly hostname: string;
  readonly hiding: readonly CapabilityHiding[];
  /** For the answer to ID; null: the server has no name. */
  readonly serverName: string | null;
  readonly log: EngineLog;
}

export class Session implements Enabled {
  readonly out: ResponseWriter;
  readonly control: ConnectionControl;
  readonly login: Login;
  readonly limits: ConnectionLimits;
  readonly remoteAddress: string;
  readonly hostname: string;
  readonly hiding: readonly CapabilityHiding[];
  /** For the answer to ID; null: the server has no name. */
  readonly serverName: string | null;
  readonly log: EngineLog;
  account: MailAccount | null = null;
  /** `name` of the ID command. */
  clientName = '';
  condstore = false;
  qresync = false;
  rev2 = false;
  utf8Accept = false;
  #store: MailboxStore | null = null;
  #selected: SelectedFolder | null = null;

  constructor(options: SessionOptions) {
    this.out = options.out;
    this.control = options.control;
    this.login = options.login;
    this.limits = options.limits;
    this.remoteAddress = options.remoteAddress;
    this.hostname = options.hostname;
    this.hiding = options.hiding;
    this.serverName = options.serverName;
    this.log = options.log;
  }

  get state(): State {
    if (this.#store === null) return 'not-authenticated';
    return this.#selected === null ? 'authenticated' : 'selected';
  }

  get utf8(): boolean {
    return this.rev2 || this.utf8Accept;
  }

  get storeIfLoggedIn(): MailboxStore | null {
    return this.#store;
  }

  /** Only for commands of the states authenticated and selected. */
  get store(): MailboxStore {
    if (this.#store === null) throw new Error('not logged in');
    return this.#store;
  }

  get selectedOrNull(): SelectedFolder | null {
    return this.#selected;
  }

  /** Only for commands of the state selected. */
  get selected(): SelectedFolder {
    if (this.#selected === null) throw new Error('no folder is selected');
    return this.#selected;
  }

  enter(account: MailAccount, store: MailboxStore): void {
    this.account = account;
    this.#store = store;
  }

  /** Starts watching a folder; called before its view is read, so that no change is missed in between. */
  watch(folderId: number): FolderWatch {
    const watch = { stale: false, stop: () => undefined as void };
    watch.stop = this.store.watch(folderId, () => {
      watch.stale = true;
      this.control.wake();
    });
    return watch;
  }

  open(selected: SelectedFolder): void {
    this.#selected = selected;
  }

  /** Leaves the selected folder, if there is one. */
  leave(): void {
    this.#selected?.watch.stop();
    this.#selected = null;
  }

  /** CONDSTORE is enabled by its first use (RFC 7162 §3.1). */
  useCondstore(): void {
    if (this.condstore) return;
    this.condstore = true;
    if (this.#selected !== null) this.out.line(`* OK [HIGHESTMODSEQ ${this.#selected.highestModseq}] CONDSTORE is on`);
  }

  /** Reports all changes of the selected folder, so that its STATUS matches what was reported to the client. */
  async reportSelected(): Promise<void> {
    if (this.#selected !== null) this.#selected.stale = true;
    await this.reportChanges(true, false);
  }

  /** Reads and reports changes by other sessions. */
  async reportChanges(removals: boolean, uid: boolean): Promise<void> {
    const selected = this.#selected;
    if (selected === null) return;
    if (selected.stale) await selected.refresh();
    await selected.report(this.out, this, { removals, uid });
    const { heldBackSince } = selected;
    if (this.qresync && heldBackSince !== undefined)
      this.out.line(`* OK [HIGHESTMODSEQ ${heldBackSince}] Removals will be reported later`);
    if (selected.deleted) this.control.byeAfterAnswer('The selected folder was deleted');
    if (this.out.full) await this.out.ready();
  }
}
