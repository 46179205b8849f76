/** What long polls and event streams share: their number is bounded, and they end with the right to the mailbox. */
import { getMailbox } from '../core/mailbox-queries.ts';
import { CatalogueError } from '../domain/errors.ts';
import { WATCHERS_PER_MAILBOX_MAX } from '../domain/mail-limits.ts';
import { type MailWatch, watchMail } from '../mail/store/watch-mail.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { AuthRule, UntypedRequest } from './route.ts';

/** The parts of a request that watching needs. */
export type WatchRequest = Pick<
  UntypedRequest,
  'services' | 'notifier' | 'stopping' | 'headers' | 'onClose' | 'organization'
>;

export interface RequestWatch extends MailWatch {
  /** @throws {CatalogueError} when the credential does not open the mailbox any more, or the mailbox is suspended */
  requireAccess(): Promise<void>;
}

const watchers = new Map<string, number>();

/**
 * Watches a mailbox for a request. Call `stop` at the end; it is called when the client goes and when the server stops.
 *
 * @param rule that of the route
 * @throws {CatalogueError} rate_limited, when the mailbox is watched too often already
 */
export async function watchFor(request: WatchRequest, rule: AuthRule, mailboxId: string): Promise<RequestWatch> {
  const { services, notifier, stopping, headers, onClose, organization } = request;
  const count = watchers.get(mailboxId) ?? 0;
  if (count >= WATCHERS_PER_MAILBOX_MAX)
    throw new CatalogueError('rate_limited', `The mailbox has ${count} long polls and streams already.`, {
      retryAfterSeconds: 1,
    });
  watchers.set(mailboxId, count + 1);
  let left = false;
  let watch: MailWatch | undefined;
  const stop = () => {
    if (left) return;
    left = true;
    const rest = (watchers.get(mailboxId) ?? 1) - 1;
    if (rest > 0) watchers.set(mailboxId, rest);
    else watchers.delete(mailboxId);
    stopping.removeEventListener('abort', stop);
    watch?.stop();
  };
  onClose(stop);
  stopping.addEventListener('abort', stop);
  try {
    watch = await watchMail(services.db, notifier, mailboxId);
  } catch (error) {
    stop();
    throw error;
  }
  if (left || stopping.aborted) {
    stop();
    watch.stop();
  }
  const { next } = watch;
  return {
    next,
    stop,
    async requireAccess() {
      const { principal } = await authenticate(services, rule, headers);
      authorize(rule, principal, mailboxId);
      const { status } = await getMailbox(services.db, organization?.id ?? '', mailboxId);
      if (status === 'suspended') throw new CatalogueError('forbidden', 'The mailbox was suspended.');
    },
  };
}
