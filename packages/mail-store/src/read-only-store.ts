/** The store of a login that may only read: it refuses every write. */
import { type MailboxStore, StoreRefused } from './interface.ts';

const WHY = 'This token may only read';

const refuse = async (): Promise<never> => {
  throw new StoreRefused('no-permission', WHY);
};

/**
 * A store that reads as `store` does, and refuses writes before they reach it. Messages to be appended are taken into
 * the spool, so that a client can send its literal to the end and reads the answer.
 */
export const readOnlyStore = (store: MailboxStore): MailboxStore => ({
  readOnly: true,
  folders: () => store.folders(),
  folder: (name) => store.folder(name),
  subscriptions: () => store.subscriptions(),
  quota: () => store.quota(),
  view: (folderId) => store.view(folderId, false),
  recentFrom: (folderId, uidValidity) => store.recentFrom(folderId, uidValidity, null),
  changes: (folderId, since) => store.changes(folderId, since),
  vanishedSince: (folderId, since) => store.vanishedSince(folderId, since),
  rows: (folderId, uids, want) => store.rows(folderId, uids, want),
  ...(store.listed === undefined ? {} : { listed: store.listed.bind(store) }),
  ...(store.sorted === undefined ? {} : { sorted: store.sorted.bind(store) }),
  slice: (messageId, from, length) => store.slice(messageId, from, length),
  contents: (messageIds, maxBytesEach) => store.contents(messageIds, maxBytesEach),
  search: (folderId, uids, query) => store.search(folderId, uids, query),
  watch: (folderId, wake) => store.watch(folderId, wake),
  spool: (expectedBytes) => store.spool(expectedBytes),
  createFolder: refuse,
  deleteFolder: refuse,
  renameFolder: refuse,
  subscribe: refuse,
  append: refuse,
  storeFlags: refuse,
  copy: refuse,
  move: refuse,
  expunge: refuse,
  replace: refuse,
});
