/**
 * Watching a whole mailbox, for long polls and streams: a waiting caller is woken by any change of its mail, and when
 * its access may have ended. It is only a wake-up: the caller reads the rows.
 */
import type { Sql } from '#db/database.ts';
import type { MailNotifier } from './notifier.ts';

export type Wake = 'mail' | 'access' | 'time' | 'stopped';

export interface MailWatch {
  /**
   * Waits for a change since the last call returned, or `timeoutMs`. Read the rows after each call, and once before the
   * first.
   */
  next(timeoutMs: number): Promise<Wake>;
  /** Ends the current wait, and all later ones at once. */
  stop(): void;
}

/**
 * Starts at once: changes from now on wake it. Call `stop` at the end.
 *
 * @param keyId the API key that opens the mailbox for the caller; undefined: something else does
 */
export async function watchMail(
  sql: Sql,
  notifier: MailNotifier,
  mailboxId: string,
  keyId?: string,
): Promise<MailWatch> {
  const unwatch = new Map<number | 'mailbox' | 'key', () => void>();
  const happened = new Set<'mail' | 'access'>();
  let stopped = false;
  let resume = () => {};

  const note = (what: 'mail' | 'access') => () => {
    happened.add(what);
    resume();
  };

  /** A folder that is new here may have got messages before it was watched, and after the caller read the rows. */
  async function watchFolders(): Promise<void> {
    const rows = await sql.query<{ id: number }>(`select id from folder where mailbox_id = $1 and deleted_at is null`, [
      mailboxId,
    ]);
    if (stopped) return;
    for (const { id } of rows) {
      if (unwatch.has(id)) continue;
      unwatch.set(id, notifier.watchFolder(id, note('mail')));
      happened.add('mail');
    }
  }

  function take(): Wake | undefined {
    if (stopped) return 'stopped';
    for (const what of ['access', 'mail'] as const) if (happened.delete(what)) return what;
    return undefined;
  }

  unwatch.set('mailbox', notifier.watchMailbox(mailboxId, note('access')));
  if (keyId !== undefined) unwatch.set('key', notifier.watchKey(keyId, note('access')));
  await watchFolders();
  // The caller reads the rows after this.
  happened.clear();
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
