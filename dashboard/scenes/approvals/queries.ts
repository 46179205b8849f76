import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { READ_WHOLE } from '../../api/live.ts';
import { pagedQuery, singleQuery, useAttempt } from '../../api/queries.ts';
import { isHeldBecause } from '../../components/mail/held-because.ts';

export type Consent = Schemas['Consent'];
export type ConsentMessage = Schemas['ConsentMessage'];
export type ApprovalScope = NonNullable<NonNullable<Consent['decision']>['scope']>;
export type MessageEdit = Schemas['ConsentEdit'];
export interface Approval {
  readonly scope: ApprovalScope;
  readonly edit?: MessageEdit;
  /** Hash of the message that the person was shown. */
  readonly sha256: string;
}

/** That a message is not sent: why, or what the agent should change. */
export interface Denial {
  /** Empty: none. */
  readonly reason: string;
  /** Hash of the message that the person was shown. */
  readonly sha256: string;
}

export const denialBody = ({ reason, sha256 }: Denial) => (reason === '' ? { sha256 } : { reason, sha256 });

const PAGE_LENGTH = 100;

/** Ages of requests that can be chosen. */
export const AGES = [
  ['hour', 'Older than an hour', 3_600_000],
  ['day', 'Older than a day', 86_400_000],
  ['days', 'Older than three days', 259_200_000],
] as const;

/** Which part of the queue is shown; as the address of the page says it. */
export interface QueueFilter {
  /** Id of the mailbox that wrote. */
  readonly from?: string;
  /** An address or a domain. */
  readonly to?: string;
  readonly reason?: Consent['heldBecause'];
  readonly age?: (typeof AGES)[number][0];
  readonly q?: string;
  /** Left out: the oldest first. */
  readonly order?: 'newest' | 'risk';
}

function queryOf({ from, to, reason, age, q = '' }: QueueFilter) {
  const olderMs = AGES.find(([value]) => value === age)?.[2];
  return {
    ...(from === undefined ? {} : { mailboxId: from }),
    ...(to === undefined ? {} : { recipient: to }),
    ...(reason === undefined ? {} : { heldBecause: reason }),
    ...(olderMs === undefined ? {} : { createdBefore: new Date(Date.now() - olderMs).toISOString() }),
    ...(q.trim() === '' ? {} : { q: q.trim() }),
  };
}

/** The filter that an address means; what it does not know is left out. */
export function filterOf({ from, to, reason, age, q, order }: Partial<Record<keyof QueueFilter, string>>): QueueFilter {
  const known = AGES.find(([value]) => value === age)?.[0];
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(isHeldBecause(reason) ? { reason } : {}),
    ...(known === undefined ? {} : { age: known }),
    ...(q === undefined ? {} : { q }),
    ...(order === 'newest' || order === 'risk' ? { order } : {}),
  };
}

export const isFiltered = ({ from, to, reason, age, q }: QueueFilter): boolean =>
  [from, to, reason, age, q].some((each) => each !== undefined);

/** What waits for a decision. Read as a whole after each change: somebody else may have decided any row. */
export const pendingQuery = (filter: QueueFilter) => ({
  ...pagedQuery(['consents', 'pending', filter], (from) =>
    bodyOf(
      service.GET('/api/consents', {
        params: {
          query: {
            status: 'pending',
            order: filter.order ?? 'oldest',
            limit: PAGE_LENGTH,
            ...queryOf(filter),
            ...from,
          },
        },
      }),
    ),
  ),
  meta: READ_WHOLE,
});

/** How many wait, in all and in groups. */
export const summaryQuery = (filter: QueueFilter) =>
  singleQuery(['consents', 'count', filter], () =>
    bodyOf(service.GET('/api/consents/summary', { params: { query: queryOf(filter) } })),
  );

/** What was decided, or expired, newest request first. */
export const decidedQuery = (status: 'approved' | 'denied') =>
  pagedQuery(['consents', 'decided', status], (from) =>
    bodyOf(service.GET('/api/consents', { params: { query: { status, limit: PAGE_LENGTH, ...from } } })),
  );

/** A request with the whole message. */
export const requestQuery = (id: string) =>
  singleQuery(['consents', 'message', id], () =>
    bodyOf(service.GET('/api/consents/{id}/message', { params: { path: { id } } })),
  );

/** The message byte for byte. */
export const loadRaw = async (id: string): Promise<string> =>
  (await bodyOf(service.GET('/api/consents/{id}/message/raw', { params: { path: { id } }, parseAs: 'blob' }))).text();

export const loadAttachment = (id: string, aid: string): Promise<Blob> =>
  bodyOf(
    service.GET('/api/consents/{id}/message/attachments/{aid}', { params: { path: { id, aid } }, parseAs: 'blob' }),
  );

/** @param onDecided called before the lists change: what asked may be gone from the page by then */
function useDecision<Input>(decide: (input: Input) => Promise<Consent>, onDecided: (consent: Consent) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: decide,
    onSuccess: onDecided,
    // A refused decision changed the list as well: somebody else decided, or the request expired.
    onSettled: () => queries.invalidateQueries({ queryKey: ['consents'] }),
  });
}

export const useApprove = (id: string, onDecided: (consent: Consent) => void) =>
  useDecision(
    (body: Approval) => bodyOf(service.POST('/api/consents/{id}/approve', { params: { path: { id } }, body })),
    onDecided,
  );

export const useDeny = (id: string, onDecided: (consent: Consent) => void) =>
  useDecision(
    (denial: Denial) =>
      bodyOf(service.POST('/api/consents/{id}/deny', { params: { path: { id } }, body: denialBody(denial) })),
    onDecided,
  );

export const useSendBack = (id: string, onDecided: (consent: Consent) => void) =>
  useDecision(
    ({ reason: comment, sha256 }: Denial) =>
      bodyOf(service.POST('/api/consents/{id}/return', { params: { path: { id } }, body: { comment, sha256 } })),
    onDecided,
  );

/** Takes an approval back while its message waits. */
export const useTakeBack = (onBack: (consent: Consent) => void) =>
  useDecision(
    (id: string) => bodyOf(service.POST('/api/consents/{id}/take-back', { params: { path: { id } } })),
    onBack,
  );

/** The brake of the organization, and what it holds up. */
export const sendingQuery = singleQuery(
  ['organization', 'sending'],
  () => bodyOf(service.GET('/api/organization/sending')),
  { staleTime: 15_000 },
);

/** Stops all sending, or lets it go on. */
export const useStopSending = () =>
  useAttempt(
    (sendingStopped: boolean) => bodyOf(service.PATCH('/api/organization', { body: { settings: { sendingStopped } } })),
    ['organization'],
    ['mailboxes'],
  );
