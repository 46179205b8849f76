/**
 * The open folder of a session: what the client knows of it, which changes are not reported yet, and the only code that
 * reports changes.
 *
 * Changes are read from the store from a MODSEQ on (`refresh`), put into the map, and reported (`report`) in one order:
 * EXISTS first, then removals, then flags. A removed message keeps its number until a removal may be reported.
 */
import type { Folder, FolderView, MailboxStore, PlacementState } from '@agent-mailbox/mail-store';
import { OutOfRange } from '#imap/wire/completion.ts';
import type { ResponseWriter } from '#imap/wire/encoder.ts';
import { flagList, SYSTEM_FLAGS, sameKeywords } from '#imap/wire/values.ts';
import {
  missingRanges,
  normalize,
  printRanges,
  printSet,
  type Range,
  SequenceMap,
  type SequenceSet,
} from './sequence-numbers.ts';

/** The settings that decide the form of unsolicited responses. */
export interface Enabled {
  readonly condstore: boolean;
  readonly qresync: boolean;
  readonly rev2: boolean;
}

export interface FolderWatch {
  stale: boolean;
  stop(): void;
}

const NO_UIDS = new Uint32Array(0);

export class SelectedFolder {
  readonly folder: Folder;
  readonly readOnly: boolean;
  readonly map: SequenceMap;
  /** All changes up to this MODSEQ are in the map. */
  highestModseq: number;
  uidNext: number;
  readonly watch: FolderWatch;
  /** The folder was deleted by another session. */
  deleted = false;
  /** UIDs of the last saved search (RFC 5182), ascending. */
  saved: Uint32Array = NO_UIDS;
  readonly #store: MailboxStore;
  readonly #gone = new Set<number>();
  readonly #changed = new Set<number>();
  /** Keywords announced to the client by FLAGS, by lower-cased name. */
  readonly #keywords = new Map<string, string>();
  #keywordsUnreported = false;
  readonly #recent: RecentMessages;
  #grown = false;

  constructor(store: MailboxStore, view: FolderView, watch: FolderWatch, readOnly: boolean) {
    this.watch = watch;
    this.#store = store;
    this.folder = view.folder;
    this.readOnly = readOnly;
    this.map = new SequenceMap(view);
    this.highestModseq = view.folder.highestModseq;
    this.#reportedModseq = this.highestModseq;
    this.uidNext = view.folder.uidNext;
    this.#recent = new RecentMessages(view.folder.recentFrom, view.folder.uidNext);
    for (const list of view.keywords.values()) this.#learn(list);
    this.#keywordsUnreported = false;
  }

  /** Something may have changed since the last refresh. */
  get stale(): boolean {
    return this.watch.stale;
  }

  set stale(value: boolean) {
    this.watch.stale = value;
  }

  isRecent(uid: number): boolean {
    return this.#recent.has(uid);
  }

  get recentCount(): number {
    return this.#recent.countIn(this.map);
  }

  #learn(keywords: readonly string[]): void {
    for (const keyword of keywords) {
      const key = keyword.toLowerCase();
      if (this.#keywords.has(key)) continue;
      this.#keywords.set(key, keyword);
      this.#keywordsUnreported = true;
    }
  }

  get #flags(): string {
    return [SYSTEM_FLAGS, ...this.#keywords.values()].join(' ');
  }

  flagsAnswer(): string {
    return `* FLAGS (${this.#flags})`;
  }

  permanentFlagsAnswer(): string {
    return this.readOnly
      ? '* OK [PERMANENTFLAGS ()] Nothing can be changed'
      : `* OK [PERMANENTFLAGS (${this.#flags} \\*)] Permanent flags`;
  }

  /**
   * Announces keywords that came into use since, by this session or another one: before any FETCH that contains them
   * (RFC 9051 §7.3.5).
   */
  reportKeywords(out: ResponseWriter): void {
    if (!this.#keywordsUnreported) return;
    this.#keywordsUnreported = false;
    out.line(this.flagsAnswer());
    if (!this.readOnly) out.line(this.permanentFlagsAnswer());
  }

  /** Removed, but not reported yet. */
  isGone(uid: number): boolean {
    return this.#gone.has(uid);
  }

  /**
   * Indices of the messages a command names, ascending, including those that were removed but not reported yet.
   *
   * @throws {OutOfRange}
   */
  indices(set: SequenceSet, uid: boolean): number[] {
    if (set.kind === 'saved') return this.indicesOf(this.saved);
    if (uid) return this.map.indicesOfUids(set.ranges);
    const indices = this.map.indicesOfNumbers(set.ranges);
    if (indices === undefined) throw new OutOfRange();
    return indices;
  }

  indicesOf(uids: ArrayLike<number>): number[] {
    const indices: number[] = [];
    for (let i = 0; i < uids.length; i++) {
      const index = this.map.indexOf(uids[i] ?? 0);
      if (index >= 0) indices.push(index);
    }
    return indices;
  }

  /** Reads the changes since. */
  async refresh(): Promise<void> {
    this.stale = false;
    try {
      await this.#read();
    } catch (error) {
      this.stale = true;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const changes = await this.#store.changes(this.folder.id, this.highestModseq);
    if (changes === undefined) {
      this.deleted = true;
      return;
    }
    if (changes === 'too-old') {
      const view = await this.#store.view(this.folder.id, false);
      if (view === undefined) this.deleted = true;
      else this.#compare(view);
      return;
    }
    for (const uid of changes.vanished) this.markGone(uid);
    for (const state of changes.changed) this.apply(state);
    this.highestModseq = Math.max(this.highestModseq, changes.highestModseq);
    this.uidNext = Math.max(this.uidNext, changes.uidNext);
  }

  markGone(uid: number): void {
    if (this.map.indexOf(uid) >= 0) this.#gone.add(uid);
  }

  /** @param silent the client knows already: its own change */
  apply(state: PlacementState, silent = false): void {
    const index = this.map.indexOf(state.uid);
    if (index < 0) {
      // A lower UID that is not in the map was removed and reported before.
      if (state.uid <= this.map.lastUid || state.uid < this.#lastSeenUid) return;
      this.map.append(state);
      this.#lastSeenUid = state.uid + 1;
      this.#grown = true;
      this.#learn(state.keywords);
      return;
    }
    if (state.modseq <= this.map.modseqAt(index)) return;
    const same = this.map.flagsAt(index) === state.flags && sameKeywords(this.map.keywordsAt(index), state.keywords);
    this.map.set(index, state);
    this.#learn(state.keywords);
    if (silent) this.#changed.delete(state.uid);
    else this.#changed.add(state.uid);
    if (same && !silent) this.#onlyModseq.add(state.uid);
    else this.#onlyModseq.delete(state.uid);
  }

  /** Marks a change as reported: the command itself has just reported it. */
  markReported(uid: number): void {
    this.#changed.delete(uid);
  }

  /** Changes whose flags are as the client knows them: only CONDSTORE clients want them. */
  readonly #onlyModseq = new Set<number>();
  #lastSeenUid = 0;

  #compare(view: FolderView): void {
    this.#lastSeenUid = Math.max(this.#lastSeenUid, this.map.lastUid + 1);
    const { uids } = view;
    let at = 0;
    for (const uid of this.map.uids) {
      while (at < uids.length && (uids[at] ?? 0) < uid) at++;
      if (uids[at] !== uid) this.markGone(uid);
    }
    for (let i = 0; i < uids.length; i++) {
      const uid = uids[i] ?? 0;
      this.apply({
        uid,
        modseq: view.modseqs[i] ?? 0,
        flags: view.flags[i] ?? 0,
        keywords: view.keywords.get(uid) ?? [],
      });
    }
    this.highestModseq = Math.max(this.highestModseq, view.folder.highestModseq);
    this.uidNext = Math.max(this.uidNext, view.folder.uidNext);
  }

  /**
   * Claims \Recent of messages that arrived while the folder was open. Of several sessions only the first one gets it,
   * and no other sees it then or later (RFC 3501 §2.3.2). A read-only session claims nothing, and sees messages that
   * are not claimed.
   */
  async #claimRecent(): Promise<void> {
    const { id, uidValidity } = this.folder;
    const to = this.uidNext;
    const from = await this.#store.recentFrom(id, uidValidity, this.readOnly ? null : to);
    this.#recent.add(Math.max(from, this.#recent.end), to);
  }

  /** All changes up to this MODSEQ have been reported to the client. */
  #reportedModseq = 0;

  /**
   * The MODSEQ up to which the client knows everything, while removals are held back; undefined if none are. A client
   * that stored the higher MODSEQ of a FETCH would never get them after a lost connection (RFC 7162 §3.2.4).
   */
  get heldBackSince(): number | undefined {
    return this.#gone.size === 0 ? undefined : this.#reportedModseq;
  }

  /**
   * Reports how many messages there are, if some came, and keywords that came into use. A command that reads changes
   * before it answers calls it first: no answer may name a number or a keyword that the client has not been given
   * (RFC 9051 §7.3.1, §7.3.5).
   */
  async reportNew(out: ResponseWriter, enabled: Enabled): Promise<void> {
    if (this.#grown) await this.#reportArrivals(out, enabled);
    this.reportKeywords(out);
  }

  async #reportArrivals(out: ResponseWriter, enabled: Enabled): Promise<void> {
    this.#grown = false;
    out.line(`* ${this.map.count} EXISTS`);
    if (enabled.rev2) return;
    // Written together: two writes to each of many sessions cost more than the claim, which is one for all of them.
    await this.#claimRecent();
    out.line(`* ${this.recentCount} RECENT`);
  }

  /** Reports the changes that the client does not know yet. */
  async report(
    out: ResponseWriter,
    enabled: Enabled,
    { removals, uid }: { removals: boolean; uid: boolean },
  ): Promise<void> {
    await this.reportNew(out, enabled);
    if (removals && this.#gone.size > 0) await this.#reportRemovals(out, enabled);
    if (this.#gone.size === 0) this.#reportedModseq = this.highestModseq;
    if (this.#changed.size === 0) return;
    for (const each of [...this.#changed].sort((a, b) => a - b)) {
      const index = this.map.indexOf(each);
      if (index < 0 || this.#gone.has(each)) continue;
      if (enabled.condstore || !this.#onlyModseq.has(each)) out.line(this.flagsLine(index, enabled, uid));
      if (out.full) await out.ready();
    }
    this.#changed.clear();
    this.#onlyModseq.clear();
  }

  /** `FLAGS (…)` of one message. */
  flagsItem(index: number, { rev2 }: Pick<Enabled, 'rev2'>): string {
    return `FLAGS ${flagList(this.map.flagsAt(index), this.map.keywordsAt(index), !rev2 && this.isRecent(this.map.uidAt(index)))}`;
  }

  /** The untagged FETCH of flags as an unsolicited answer. */
  flagsLine(index: number, enabled: Enabled, withUid: boolean): string {
    const uid = enabled.qresync || withUid ? `UID ${this.map.uidAt(index)} ` : '';
    const modseq = enabled.condstore ? ` MODSEQ (${this.map.modseqAt(index)})` : '';
    return `* ${index + 1} FETCH (${uid}${this.flagsItem(index, enabled)}${modseq})`;
  }

  async #reportRemovals(out: ResponseWriter, { qresync }: Enabled): Promise<void> {
    const indices = this.indicesOf([...this.#gone].sort((a, b) => a - b));
    if (qresync) out.line(`* VANISHED ${printSet(indices.map((index) => this.map.uidAt(index)))}`);
    else
      for (const index of indices.toReversed()) {
        out.line(`* ${index + 1} EXPUNGE`);
        if (out.full) await out.ready();
      }
    this.#lastSeenUid = Math.max(this.#lastSeenUid, this.map.lastUid + 1);
    this.map.remove(indices);
    for (const uid of this.#gone) this.#changed.delete(uid);
    this.#gone.clear();
  }

  /**
   * UIDs among `known` (null: all below UIDNEXT) that vanished since a MODSEQ, printed. If the store's log does not go
   * back that far, all that do not exist: more than needed, never fewer.
   */
  async vanishedEarlier(since: number, known: readonly Range[] | null): Promise<string> {
    const last = this.uidNext - 1;
    if (last < 1) return '';
    const within = normalize(known ?? [[1, last]], Math.max(1, this.map.lastUid))
      .filter(([low]) => low <= last)
      .map(([low, high]): Range => [low, Math.min(high, last)]);
    const vanished = await this.#store.vanishedSince(this.folder.id, since);
    const gone = missingRanges(within, this.map.uids);
    if (vanished === 'too-old') return printRanges(gone);
    let at = 0;
    return printSet(
      vanished.filter((uid) => {
        while (at < gone.length && (gone[at]?.[1] ?? 0) < uid) at++;
        return uid >= (gone[at]?.[0] ?? Number.POSITIVE_INFINITY);
      }),
    );
  }
}

/** The messages that are \\Recent to one session: ranges of UIDs that it was the first to be notified of (RFC 3501 §2.3.2). */
class RecentMessages {
  /** Ascending and apart; `to` does not belong to its range. */
  readonly #ranges: { readonly from: number; to: number }[] = [];
  /** UIDs below were checked: they are in a range, or belong to another session. */
  end: number;

  constructor(from: number, to: number) {
    this.end = from;
    this.add(from, to);
  }

  /** UIDs from `from` to before `to`, none of which was checked before. */
  add(from: number, to: number): void {
    if (to > this.end) this.end = to;
    if (from >= to) return;
    const last = this.#ranges.at(-1);
    if (last?.to === from) last.to = to;
    else this.#ranges.push({ from, to });
  }

  has(uid: number): boolean {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.to ?? 0) <= uid) low = middle + 1;
      else high = middle;
    }
    return uid >= (this.#ranges[low]?.from ?? Number.POSITIVE_INFINITY);
  }

  countIn(map: SequenceMap): number {
    return this.#ranges.reduce((sum, { from, to }) => sum + map.lowerBound(to) - map.lowerBound(from), 0);
  }
}
