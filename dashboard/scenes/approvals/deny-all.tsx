import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, service } from '../../api/client.ts';
import { singleQuery } from '../../api/queries.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Failure, Skeleton } from '../../components/frame/page.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { Time } from '../../components/shown/time.tsx';
import type { Consent } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

/** As many as one call takes, and as a person can look through. */
const PORTION = 200;
const LISTED_MAX = 2_000;

/** What waits of a mailbox at this moment. It is read once: what comes later is not denied. */
const listedQuery = (mailboxId: string) =>
  singleQuery(
    ['deny-all', mailboxId],
    async () => {
      const listed: Consent[] = [];
      for (let cursor: string | null | undefined; cursor !== null && listed.length < LISTED_MAX; ) {
        const from = cursor === undefined ? {} : { cursor };
        const query = { status: 'pending', order: 'oldest', mailboxId, limit: PORTION, ...from } as const;
        const page = await bodyOf(service.GET('/api/consents', { params: { query } }));
        listed.push(...page.data);
        cursor = page.nextCursor;
      }
      return listed;
    },
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false },
  );

/** Stops the mailbox first, so that nothing comes in between; then denies portion by portion. */
function useDenyAll(mailboxId: string, listed: readonly Consent[]) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (reason: string) => {
      await bodyOf(
        service.PATCH('/api/mailboxes/{id}', {
          params: { path: { id: mailboxId } },
          body: { sendingMode: 'stopped' },
        }),
      );
      let denied = 0;
      for (let at = 0; at < listed.length; at += PORTION) {
        const consentIds = listed.slice(at, at + PORTION).map(({ id }) => id);
        const body = { consentIds, ...(reason === '' ? {} : { reason }) };
        denied += (await bodyOf(service.POST('/api/consents/deny', { body }))).denied.length;
      }
      return denied;
    },
    onSettled: () =>
      Promise.all(['consents', 'mailboxes'].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
}

interface DenyAllProps {
  readonly mailboxId: string;
  /** Its address. */
  readonly address: string;
  readonly onClose: () => void;
}

/** In two steps: what would be denied, and whether it is. */
export function DenyAll({ mailboxId, address, onClose }: DenyAllProps) {
  const list = useQuery(listedQuery(mailboxId));
  const listed = list.data ?? [];
  const [sure, setSure] = useState(false);
  const [reason, setReason] = useState('');
  const deny = useDenyAll(mailboxId, listed);
  const what = listed.length === 1 ? 'one message' : `${listed.length.toLocaleString()} messages`;
  if (deny.data !== undefined)
    return (
      <Dialog onClose={onClose} title="Denied">
        <p role="status">
          {deny.data.toLocaleString()} of {what} denied
          {deny.data === listed.length ? '' : '; the others were decided before'}. {visibleText(address)} sends nothing
          until somebody changes that on its page.
        </p>
      </Dialog>
    );
  if (sure)
    return (
      <Confirm
        title={`Stop the mailbox and deny ${what}?`}
        consequence={`${address} sends nothing until somebody changes that on its page. The ${what} of the list are denied, and cannot be approved afterwards. The agent is given your reason.`}
        action={`Stop and deny ${what}`}
        change={deny}
        onConfirm={() => deny.mutate(reason.trim())}
        onClose={onClose}
      >
        <ReasonField value={reason} onChange={setReason} />
      </Confirm>
    );
  return (
    <Dialog
      onClose={onClose}
      title="Deny all of this mailbox"
      description={`What waits of ${address} now. Nothing is decided yet; what comes later is not denied.`}
    >
      {list.isError ? <Failure query={list} /> : null}
      {list.isPending ? <Skeleton rows={3} /> : null}
      <p className="font-medium">{list.data === undefined ? '' : what}</p>
      <ol aria-label="Would be denied" tabIndex={0} className="max-h-72 overflow-y-auto rounded-md border border-line">
        {listed.map(({ id, recipients, subject, createdAt }) => (
          <li key={id} className="border-b border-line px-3 py-1.5 [content-visibility:auto]">
            <span className="block truncate font-medium">{visibleText(recipients.join(', '))}</span>
            <span className="block truncate text-muted">
              <Time value={createdAt} /> · {visibleText(subject) || '(no subject)'}
            </span>
          </li>
        ))}
      </ol>
      {listed.length >= LISTED_MAX ? (
        <p className="text-muted">These are the oldest. Do it again for what is left.</p>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="stop" disabled={listed.length === 0} onClick={() => setSure(true)}>
          Continue
        </Button>
      </div>
    </Dialog>
  );
}
