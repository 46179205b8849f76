/**
 * The store as the engines of IMAP and POP3 see it. They know no database: a host implements this interface, tests and
 * examples use `MemoryStore`.
 *
 * Words: a folder is what IMAP calls a mailbox; a message is immutable content; a placement is a message in a folder
 * under a UID. UIDs, MODSEQs and counters are numbers below 2^53.
 */
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';

/** A logged-in mailbox (account). */
export interface MailAccount {
  readonly mailboxId: string;
  readonly address: string;
}

export const SPECIAL_USES = ['\\Inbox', '\\Sent', '\\Drafts', '\\Archive', '\\Junk', '\\Trash'] as const;
export type SpecialUse = (typeof SPECIAL_USES)[number];

export interface Folder {
  readonly id: number;
  /** OBJECTID (RFC 8474), stable over renames: `F` and the id. */
  readonly objectId: string;
  /** Full name in Unicode NFC, `/` between levels, `INBOX` in capitals. */
  readonly name: string;
  readonly specialUse: SpecialUse | null;
  readonly uidValidity: number;
  readonly uidNext: number;
  readonly highestModseq: number;
  readonly total: number;
  readonly unseen: number;
  readonly deleted: number;
  readonly bytes: number;
  /** UIDs from here on are \Recent to the next read-write SELECT. */
  readonly recentFrom: number;
}

/** The state of a folder that a session keeps, in one snapshot: parallel arrays, ascending UIDs. */
export interface FolderView {
  readonly folder: Folder;
  readonly uids: Uint32Array;
  readonly modseqs: Float64Array;
  /** Bits of `MAIL_FLAGS`. */
  readonly flags: Uint8Array;
  /** Keywords of those placements that have any, by UID. */
  readonly keywords: ReadonlyMap<number, readonly string[]>;
}

/** Changes in a folder since a MODSEQ. */
export interface FolderChanges {
  readonly highestModseq: number;
  readonly uidNext: number;
  /** Added or changed since, ascending UIDs; each with its present flags. */
  readonly changed: readonly PlacementState[];
  /** UIDs expunged since, ascending. */
  readonly vanished: readonly number[];
}

export interface PlacementState {
  readonly uid: number;
  readonly modseq: number;
  readonly flags: number;
  readonly keywords: readonly string[];
}

/** Columns of a message for FETCH, SORT and SEARCH. Only requested ones are filled. */
export interface MessageColumns {
  readonly envelope: boolean;
  readonly bodyStructure: boolean;
  readonly parts: boolean;
  readonly preview: boolean;
  readonly sortKeys: boolean;
}

export interface MessageRow {
  readonly uid: number;
  readonly messageId: string;
  readonly threadId: string;
  readonly internalDate: Date;
  /** Zone the internal date was given in, minutes east of UTC. */
  readonly internalOffsetMinutes: number;
  readonly saveDate: Date;
  /** RFC822.SIZE: bytes of the stored message. */
  readonly size: number;
  /** Wire-ready ENVELOPE, a parenthesized list. */
  readonly envelope?: Uint8Array;
  /** Wire-ready extensible BODYSTRUCTURE, a parenthesized list. */
  readonly bodyStructure?: Uint8Array;
  /** Offset tree, for BODY[…] and BINARY[…]. */
  readonly parts?: PartNode;
  readonly preview?: string;
  readonly sortKeys?: SortKeys;
}

/** Messages as a list shows them: parallel arrays, ascending UIDs. */
export interface ListedMessages {
  readonly uids: Uint32Array;
  readonly sizes: Uint32Array;
  /** Milliseconds since 1970. */
  readonly internalDates: Float64Array;
  /** Minutes east of UTC. */
  readonly internalOffsets: Int16Array;
  /** 0: the header lines of this message are not in the index, so it must be read. */
  readonly indexed: Uint8Array;
  /** The requested lines of all messages, each with its line break. */
  readonly lines: Uint8Array;
  /** Where those of each message end in `lines`; the next one's begin there. */
  readonly ends: Uint32Array;
}

/** Decoded values that SORT and THREAD compare (RFC 5256). */
export interface SortKeys {
  readonly subject: string;
  /** First entry of each in the envelope, decoded; empty when absent. Of a group `mailbox` is its name. */
  readonly from: SortAddress;
  readonly to: SortAddress;
  readonly cc: SortAddress;
  /** The Date header, or null if it is absent or unreadable. */
  readonly sentAt: Date | null;
  /** One character per byte; empty: none. */
  readonly messageIdHeader: string;
}

/** `date`: of the Date header, or the internal date where that cannot be read (RFC 5256 §2.2). */
export interface SortOrder {
  readonly key: 'date' | 'internal-date' | 'size';
  readonly reverse: boolean;
}

export interface SortAddress {
  readonly name: string;
  readonly mailbox: string;
  /** Domain, for SORT=DISPLAY of addresses without a name (RFC 5957 §3). */
  readonly host?: string;
}

/** A message to be appended; its bytes are streamed into a spool before, see `MailStore.spool`. */
export interface AppendMessage {
  readonly content: SpooledMessage;
  readonly flags: number;
  readonly keywords: readonly string[];
  /** Null: now. */
  readonly internalDate: Date | null;
  /** Zone the date was given in, minutes east of UTC. Default: UTC. */
  readonly internalOffsetMinutes?: number;
}

/** Bytes of a message being received: in memory up to a bound, on disk above it. */
export interface SpooledMessage {
  readonly size: number;
  /** Whether the header has Message-ID etc. is read from here. @throws {StoreUnavailable} if the disk is full */
  bytes(): Promise<Buffer>;
  /** Removes the spool file; safe to call twice. */
  discard(): Promise<void>;
}

/** Receives the bytes of one literal. */
export interface Spool {
  /** Resolves when more may be written (back-pressure). */
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<SpooledMessage>;
  discard(): Promise<void>;
}

export interface CopiedUids {
  readonly uidValidity: number;
  /** Ascending pairs: source and destination UID of each message. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

export type FlagChange = 'replace' | 'add' | 'remove';

export interface StoreFlags {
  readonly folderId: number;
  readonly uids: readonly number[];
  readonly change: FlagChange;
  readonly flags: number;
  readonly keywords: readonly string[];
  /** CONDSTORE: placements with a higher MODSEQ are left alone and named in `modified`. */
  readonly unchangedSince: number | null;
}

export interface StoredFlags {
  /** New state of each placement that was changed or already as wished. */
  readonly states: readonly PlacementState[];
  /** UIDs refused by `unchangedSince`. */
  readonly modified: readonly number[];
  /** UIDs that are not (any more) in the folder. */
  readonly missing: readonly number[];
  readonly highestModseq: number;
}

export interface Quota {
  readonly usedBytes: number;
  readonly limitBytes: number;
  readonly messages: number;
}

export interface Subscription {
  readonly name: string;
}

/** Everything a logged-in connection may do with one mailbox. Made by login; every call is bound to that mailbox. */
export interface MailboxStore {
  /** The login may only read: folders open read-only, and every write is refused (`no-permission`). Default: false. */
  readonly readOnly?: boolean;

  folders(): Promise<readonly Folder[]>;
  /** By name (INBOX in any case of letters, others exactly), or undefined. */
  folder(name: string): Promise<Folder | undefined>;
  createFolder(name: string, specialUse: SpecialUse | null): Promise<Folder>;
  /** The six of creation cannot be deleted. */
  deleteFolder(name: string): Promise<void>;
  /** Children go along; renaming INBOX moves its messages into the new folder. */
  renameFolder(from: string, to: string): Promise<void>;
  subscriptions(): Promise<readonly string[]>;
  subscribe(name: string, subscribed: boolean): Promise<void>;
  quota(): Promise<Quota>;

  /** One consistent snapshot. Undefined: the folder was deleted. `claimRecent`: a read-write SELECT claims \Recent. */
  view(folderId: number, claimRecent: boolean): Promise<FolderView | undefined>;
  /**
   * The first UID whose message no session has claimed as \Recent. The caller claims those below `claimBelow` (null:
   * none); later callers do not get them. If the folder has another UIDVALIDITY by now, the answer is
   * `Number.MAX_SAFE_INTEGER`.
   */
  recentFrom(folderId: number, uidValidity: number, claimBelow: number | null): Promise<number>;
  /** 'too-old': `since` is older than the log; the caller must read a new view. Undefined: the folder was deleted. */
  changes(folderId: number, since: number): Promise<FolderChanges | 'too-old' | undefined>;
  /** UIDs expunged since a MODSEQ among `known` (null: all), for QRESYNC; 'too-old' as above. */
  vanishedSince(folderId: number, since: number): Promise<readonly number[] | 'too-old'>;

  /** Rows in ascending UID order, in portions; Removed UIDs are omitted. Uses no connection between portions. */
  rows(folderId: number, uids: Uint32Array, want: MessageColumns): AsyncIterable<readonly MessageRow[]>;
  /**
   * The lines of these header fields, all of them listed (`listed-fields.ts`), without reading messages; otherwise as
   * `rows`. A store without such an index omits this.
   */
  listed?(folderId: number, uids: Uint32Array, fields: readonly string[]): AsyncIterable<ListedMessages>;
  /**
   * The UIDs in this order, those that are equal ascending, without rows of messages; removed ones are omitted. A store
   * that cannot sort omits this.
   */
  sorted?(folderId: number, uids: Uint32Array, order: readonly SortOrder[]): Promise<Uint32Array>;
  /** Bytes of a message, at most MESSAGE_SLICE_MAX_BYTES; shorter at its end. */
  slice(messageId: string, from: number, length: number): Promise<Uint8Array>;
  /** Whole contents of many small messages in one query; those above the bound are left out. */
  contents(messageIds: readonly string[], maxBytesEach: number): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Ascending UIDs among `uids` whose content matches. */
  search(folderId: number, uids: Uint32Array, query: ContentQuery): Promise<Uint32Array>;

  spool(expectedBytes: number): Spool;
  /**
   * All or none. A message that submission has filed in this folder within the hour is not stored again: the UID is
   * that of the copy. @throws {StoreRefused} over-quota, no-folder, limit
   */
  append(
    folderId: number,
    messages: readonly AppendMessage[],
  ): Promise<{ uidValidity: number; uids: readonly number[] }>;
  storeFlags(change: StoreFlags): Promise<StoredFlags>;
  /**
   * All or none. Removed UIDs are omitted, or with `complete` refuse the whole.
   *
   * @throws {StoreRefused} over-quota, no-folder, gone
   */
  copy(folderId: number, uids: readonly number[], toFolderId: number, complete?: boolean): Promise<CopiedUids>;
  /** As copy, and the sources vanish in the same transaction. */
  move(
    folderId: number,
    uids: readonly number[],
    toFolderId: number,
    complete?: boolean,
  ): Promise<CopiedUids & { readonly highestModseq: number }>;
  /**
   * `uids` null: all with \Deleted. Only placements with \Deleted are removed, unless `force` (POP3, REPLACE). @returns
   * the removed UIDs
   */
  expunge(
    folderId: number,
    uids: readonly number[] | null,
    force?: boolean,
  ): Promise<{ uids: readonly number[]; highestModseq: number }>;
  /** REPLACE (RFC 8508): appends and expunges the old one in one transaction. */
  replace(
    folderId: number,
    uid: number,
    toFolderId: number,
    message: AppendMessage,
  ): Promise<{ uidValidity: number; uid: number; highestModseq: number }>;

  /** Calls `wake` soon after any session changed the folder, or the mailbox was closed. @returns stop watching */
  watch(folderId: number, wake: () => void): () => void;
}

/** Result of a login attempt. */
export type LoginResult =
  | {
      readonly kind: 'ok';
      readonly account: MailAccount;
      readonly store: MailboxStore;
      onClosed(listener: () => void): () => void;
    }
  /** Unknown mailbox, wrong token, suspended: not distinguished. */
  | { readonly kind: 'refused' }
  /** The token is right, but does not open this protocol; the text says why. */
  | { readonly kind: 'not-permitted'; readonly text: string }
  /** Too many failures from this source or for this mailbox; the credential was not read. */
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  /** The mailbox has too many connections to this listener. */
  | { readonly kind: 'too-many-connections' };

/** How the engines let somebody in. */
export type Login = (attempt: {
  readonly protocol: 'imap' | 'pop3' | 'smtp';
  readonly address: string;
  readonly token: string;
  readonly remoteAddress: string;
}) => Promise<LoginResult>;

export type EnvelopeField = 'bcc' | 'cc' | 'from' | 'subject' | 'to';

/** A search of the content of messages, whose folder-state keys (flags, UIDs, MODSEQ, sequence numbers) the engine has already resolved. */
export type ContentQuery =
  | { readonly kind: 'and' | 'or'; readonly of: readonly ContentQuery[] }
  | { readonly kind: 'not'; readonly of: ContentQuery }
  /** Substring without regard to case. `field`: lower-cased header name; empty text: the field is present. */
  | { readonly kind: 'header'; readonly field: string; readonly text: string }
  /** Substring of the decoded field of the envelope structure; of an address `Name <local@host>`, of a group `Name:`. */
  | { readonly kind: 'envelope'; readonly field: EnvelopeField; readonly text: string }
  | { readonly kind: 'body' | 'text'; readonly text: string }
  | { readonly kind: 'larger' | 'smaller'; readonly bytes: number }
  /**
   * Half-open range in milliseconds since 1970; open ends are null. `internal-time` compares points in time, the others
   * calendar days: those of the internal date and of the Date header in their own zones.
   */
  | {
      readonly kind: 'internal-time' | 'internal-day' | 'sent-date' | 'save-date';
      readonly from: number | null;
      readonly before: number | null;
    }
  | { readonly kind: 'message-id' | 'thread-id'; readonly id: string }
  | { readonly kind: 'uids'; readonly uids: readonly number[] };

/** Why the store refused a write. Everything else throws: the database is unreachable, or an internal error. */
export const STORE_REFUSALS = [
  'over-quota',
  'no-folder',
  'exists',
  'cannot',
  'limit',
  'too-big',
  'gone',
  'no-permission',
] as const;
export type StoreRefusal = (typeof STORE_REFUSALS)[number];

export class StoreRefused extends Error {
  readonly refusal: StoreRefusal;
  constructor(refusal: StoreRefusal, message: string) {
    super(message);
    this.name = 'StoreRefused';
    this.refusal = refusal;
  }
}

/** Thrown while the database cannot be reached; the connection stays, the command answers NO [UNAVAILABLE]. */
export class StoreUnavailable extends Error {}
