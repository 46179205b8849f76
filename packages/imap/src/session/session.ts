/** The state of one IMAP connection, as commands see it. */

import type { Duplex } from 'node:stream';
import type { Folder, Login, MailAccount, MailboxStore } from '@agent-mailbox/mail-store';
import type { EngineLog } from '@agent-mailbox/mail-store/engine-log';
import type { ConnectionLimits, ImapLimits } from '#imap/limits.ts';
import { Refusal } from '#imap/wire/completion.ts';
import type { ResponseWriter } from '#imap/wire/encoder.ts';
import type { Line } from '#imap/wire/transport.ts';
import { existingName, type WireName } from '#imap/wire/values.ts';
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

/** What a host gives the engine for one connection. */
export interface ImapOptions {
  /** For log lines. Default: a random one. */
  readonly connectionId?: string;
  /** The socket is a TLS connection already. */
  readonly tls: boolean;
  /** Wraps the same socket in TLS and resolves when the handshake is done; without it STARTTLS is not announced. */
  readonly startTls?: () => Promise<Duplex>;
  readonly login: Login;
  readonly remoteAddress: string;
  /** Our name in the greeting. */
  readonly hostname: string;
  /** The largest message that APPEND accepts; announced as APPENDLIMIT (RFC 7889). */
  readonly messageMaxBytes: number;
  /** Differences from the default limits. */
  readonly limits?: Partial<ImapLimits>;
  /** What the server calls itself in its answer to ID (RFC 2971). Default: it does not. */
  readonly serverName?: string;
  /** Capabilities hidden from clients that stumble over them. Default: none. */
  readonly hiding?: readonly CapabilityHiding[];
  /** Default: none. */
  readonly log?: EngineLog;
}

/** The same with the defaults. */
export interface SessionOptions
  extends Omit<ImapOptions, 'messageMaxBytes' | 'limits' | 'hiding' | 'log'>,
    Required<Pick<ImapOptions, 'hiding' | 'log'>> {
  readonly limits: ConnectionLimits;
}

export class Session implements Enabled {
  readonly out: ResponseWriter;
  readonly control: ConnectionControl;
  readonly options: SessionOptions;
  account: MailAccount | null = null;
  /** `name` of the ID command. */
  clientName = '';
  condstore = false;
  qresync = false;
  rev2 = false;
  utf8Accept = false;
  #store: MailboxStore | null = null;
  #selected: SelectedFolder | null = null;

  constructor(out: ResponseWriter, control: ConnectionControl, options: SessionOptions) {
    this.out = out;
    this.control = control;
    this.options = options;
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

  /** @throws {Refusal} with the code: there is no folder of this name */
  async folder(name: WireName, code = 'NONEXISTENT'): Promise<Folder> {
    const folder = await this.store.folder(existingName(name));
    if (folder === undefined) throw new Refusal(code, 'No such folder');
    return folder;
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

  /** The next report reads the selected folder, if there is one, from the store. */
  markStale(): void {
    if (this.#selected !== null) this.#selected.stale = true;
  }

  /** The command has removed messages of the selected folder. @returns the response code of its answer */
  async removed(uids: readonly number[]): Promise<string | undefined> {
    for (const uid of uids) this.selected.markGone(uid);
    await this.selected.refresh();
    return this.condstore && uids.length > 0 ? `HIGHESTMODSEQ ${this.selected.highestModseq}` : undefined;
  }

  /** CONDSTORE is enabled by its first use (RFC 7162 §3.1). */
  useCondstore(): void {
    if (this.condstore) return;
    this.condstore = true;
    if (this.#selected !== null) this.out.line(`* OK [HIGHESTMODSEQ ${this.#selected.highestModseq}] CONDSTORE is on`);
  }

  /** Reports all changes of the selected folder, so that its STATUS matches what was reported to the client. */
  async reportSelected(): Promise<void> {
    this.markStale();
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
