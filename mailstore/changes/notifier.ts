/**
 * Watchers of folders, and how they are notified of changes.
 *
 * Watchers in this process are woken first, at the commit. Other processes are notified by NOTIFY with the ids: the
 * first at once, those of the next 50 ms in one; from a small separate transaction, because NOTIFY in a write
 * transaction makes all writers of the database wait for each other. One connection per process listens; it is opened
 * by the first watcher. A notification is only a wake-up, never a fact: a woken watcher reads the change log. So
 * nothing is lost when a message is: after a reconnect every watcher is woken, and every 30 s the folders that moved on
 * since are.
 *
 * The same channel says that access to a mailbox, or that of an API key, may have ended
 * (`core/mailboxes/mailbox-logins.ts`).
 */
import { randomBytes } from 'node:crypto';
import { MAIL_CHANGES_CHANNEL as CHANNEL } from '#core/mailboxes/mailbox-logins.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type Listening, listen, spacedNotices } from '#db/listen.ts';

const NOTIFY_INTERVAL_MS = 50;
/** PostgreSQL refuses payloads of 8,000 bytes; above this all watchers are woken. */
const PAYLOAD_MAX_CHARACTERS = 7_500;
const EVERYTHING = '*';
const POLL_MS = 30_000;

type Topic = `folder ${number}` | `mailbox ${string}` | `key ${string}`;

export interface MailNotifier {
  /** Call after the commit. Never throws, never waits. */
  changed(folderIds: Iterable<number>): void;
  /** Calls `wake` after changes of a folder by any process; it must read the changes itself. @returns stop watching */
  watchFolder(folderId: number, wake: () => void): () => void;
  /** Calls `wake` when access to the mailbox may have ended; it must read the rows itself. @returns stop watching */
  watchMailbox(mailboxId: string, wake: () => void): () => void;
  /** Calls `wake` when the access of an API key may have ended; it must read the rows itself. @returns stop watching */
  watchKey(keyId: string, wake: () => void): () => void;
  close(): Promise<void>;
}

export interface NotifierOptions {
  /** Interval of the safety poll; default 30 s. */
  readonly pollMs?: number;
}

export function openMailNotifier(
  { db, log, settings }: Pick<Services, 'db' | 'log' | 'settings'>,
  { pollMs = POLL_MS }: NotifierOptions = {},
): MailNotifier {
  const self = randomBytes(6).toString('base64url');
  const watchers = new Map<string, Set<() => void>>();
  /** MODSEQ of each watched folder at the last poll. */
  const polled = new Map<number, number>();
  const unsent = new Set<string>();
  let pollTimer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;
  let closing = false;

  function wake(topic: string): void {
    for (const watcher of [...(watchers.get(topic) ?? [])])
      try {
        watcher();
      } catch (error) {
        log.error({ error: error instanceof Error ? error.message : undefined }, 'a watcher of a folder failed');
      }
  }

  function wakeAll(): void {
    for (const topic of [...watchers.keys()]) wake(topic);
  }

  function notify(topics: readonly Topic[]): void {
    if (closing || topics.length === 0) return;
    for (const topic of topics) {
      wake(topic);
      unsent.add(topic);
    }
    notices.ask();
  }

  const notices = spacedNotices(NOTIFY_INTERVAL_MS, () => {
    const topics = [...unsent].join(',');
    unsent.clear();
    const payload = `${self};${topics.length > PAYLOAD_MAX_CHARACTERS ? EVERYTHING : topics}`;
    db.query(NOTIFY, [CHANNEL, payload]).catch((error: Error) =>
      log.debug({ error: error.message }, 'NOTIFY failed; watchers in other processes find the change by their poll'),
    );
  });

  function receive(payload: string): void {
    const end = payload.indexOf(';');
    if (payload.slice(0, end) === self) return;
    const topics = payload.slice(end + 1);
    if (topics === EVERYTHING) wakeAll();
    else for (const topic of topics.split(',')) wake(topic);
  }

  async function poll(): Promise<void> {
    const ids = [...watchers.keys()].flatMap((topic) => (topic.startsWith('folder ') ? [Number(topic.slice(7))] : []));
    const rows = ids.length === 0 ? [] : await db.query<{ id: number; modseq: number }>(WATCHED_FOLDERS, [ids]);
    const found = new Map(rows.map(({ id, modseq }) => [id, modseq]));
    for (const id of ids) {
      const modseq = found.get(id) ?? -1; // gone
      const before = polled.get(id);
      polled.set(id, modseq);
      if (before !== modseq) wake(`folder ${id}`);
    }
  }

  function startListening(): void {
    if (listening !== undefined || closing) return;
    listening = listen(settings.DATABASE_URL ?? '', {
      name: 'agent-mailbox mail watch',
      channel: CHANNEL,
      onNotification: receive,
      onConnected: wakeAll,
    });
    pollTimer = setInterval(() => {
      poll().catch((error: Error) => log.debug({ error: error.message }, 'looking at watched folders failed'));
    }, pollMs);
    pollTimer.unref();
  }

  function watch(topic: Topic, watcher: () => void): () => void {
    startListening();
    const list = watchers.get(topic) ?? new Set();
    watchers.set(topic, list);
    // A separate wrapper, so that the same function can watch twice.
    const own = () => watcher();
    list.add(own);
    return () => {
      list.delete(own);
      if (list.size > 0 || watchers.get(topic) !== list) return;
      watchers.delete(topic);
      if (topic.startsWith('folder ')) polled.delete(Number(topic.slice(7)));
    };
  }

  return {
    changed: (folderIds) => notify([...folderIds].map((id) => `folder ${id}` as const)),
    watchFolder: (folderId, watcher) => watch(`folder ${folderId}`, watcher),
    watchMailbox: (mailboxId, watcher) => watch(`mailbox ${mailboxId}`, watcher),
    watchKey: (keyId, watcher) => watch(`key ${keyId}`, watcher),
    async close() {
      closing = true;
      notices.close();
      clearInterval(pollTimer);
      watchers.clear();
      await listening?.close();
    },
  };
}

/** A notification makes its transaction write to the WAL; it need not wait for the disk. */
const NOTIFY = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;

const WATCHED_FOLDERS = `select id, modseq from folder where id = any($1::bigint[]) and deleted_at is null`;
