/** What long polls and event streams share: their number is bounded, and they end when access to the mailbox ends. */
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { WATCHERS_PER_MAILBOX_MAX } from '#domain/mail/mail-limits.ts';
import { tokenAllows } from '#domain/organizations/mailboxes.ts';
import { type MailWatch, watchMail } from '#mailstore/changes/watch-mail.ts';
import { authenticate } from './auth/authenticate.ts';
import { authorize } from './auth/authorize.ts';
import type { AuthRule, UntypedRequest } from './http/route.ts';

/** The parts of a request that watching needs. */
export type WatchRequest = Pick<
  UntypedRequest,
  'services' | 'notifier' | 'stopping' | 'headers' | 'onClose' | 'organization' | 'principal'
>;

export interface RequestWatch extends MailWatch {
  /**
   * Call it between reading mail and writing it to the client: what was read before the access ended is not written after.
   *
   * @throws {CatalogueError} when the credential does not open the mailbox any more
   */
  requireAccess(): Promise<void>;
}

const watchers = new Map<string, number>();

/**
 * Watches a mailbox for a request. Call `stop` at the end; it is called when the client disconnects and when the server
 * stops.
 *
 * @param rule that of the route
 * @throws {CatalogueError} rate_limited, if the mailbox already has too many watchers
 */
export async function watchFor(request: WatchRequest, rule: AuthRule, mailboxId: string): Promise<RequestWatch> {
  const { services, notifier, stopping, headers, onClose, organization, principal: opener } = request;
  const count = watchers.get(mailboxId) ?? 0;
  if (count >= WATCHERS_PER_MAILBOX_MAX)
    throw new CatalogueError('rate_limited', `The mailbox has ${count} open long polls and streams already.`, {
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
    watch = await watchMail(services.db, notifier, mailboxId, opener.kind === 'api_key' ? opener.id : undefined);
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
      const { principal, organization: active } = await authenticate(services, rule, headers, { subjectId: mailboxId });
      authorize(rule, principal, mailboxId);
      // The look-up of a mailbox token finds its mailbox too; that of a limited key, the mailbox in one of its groups.
      if (principal.kind === 'mailbox') {
        if (!tokenAllows(principal.access, 'read')) throw new CatalogueError('insufficient_scope');
      } else if (principal.kind === 'api_key' && principal.reach !== null) {
        if (!principal.reachesPath) throw new CatalogueError('not_found');
      } else if (active?.id !== organization?.id) throw new CatalogueError('not_found');
      else await requireMailbox(services.db, organization?.id ?? '', mailboxId);
    },
  };
}
