/**
 * Watching a whole mailbox, for long polls and streams: who waits is woken by any change of mail in it, and when the
 * right to it may have ended. It is a nudge: whoever is woken looks at the rows.
 */
import type { Sql } from '../../db/database.ts';
import type { MailNotifier } from './notifier.ts';

export type Wake = 'mail' | 'access' | 'time' | 'stopped';

export interface MailWatch {
  /**
   * Waits for what happened since the last call returned, or `timeoutMs`. Look at the rows after each call, and once
   * before the first.
   */
  next(timeoutMs: number): Promise<Wake>;
  /** Ends a wait under way, and all later ones at once. */
  stop(): void;
}

/** Begins at once: what happens from now on wakes. Call `stop` at the end. */
export async function watchMail(sql: Sql, notifier: MailNotifier, mailboxId: string): Promise<MailWatch> {
  const unwatch = new Map<number | 'mailbox', () => void>();
  const happened = new Set<'mail' | 'access'>();
  let stopped = false;
  let resume = () => {};

  const note = (what: 'mail' | 'access') => () => {
    happened.add(what);
    resume();
  };

  /** A folder made since is watched from the next look on; what lies in it by then is found by that look. */
  async function watchFolders(): Promise<void> {
    const rows = await sql.query<{ id: number }>(`select id from folder where mailbox_id = $1 and deleted_at is null`, [
      mailboxId,
    ]);
    if (stopped) return;
    for (const { id } of rows) if (!unwatch.has(id)) unwatch.set(id, notifier.watchFolder(id, note('mail')));
  }

  function take(): Wake | undefined {
    if (stopped) return 'stopped';
    for (const what of ['access', 'mail'] as const) if (happened.delete(what)) return what;
    return undefined;
  }

  unwatch.set('mailbox', notifier.watchMailbox(mailboxId, note('access')));
  await watchFolders();
  return {
    async next(timeoutMs) {
      await watchFolders();
      const already = take();
      if (already !== undefined) return already;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      resume = () => {};
      return take() ?? 'time';
    },
    stop() {
      stopped = true;
      for (const end of unwatch.values()) end();
      unwatch.clear();
      resume();
    },
  };
}
