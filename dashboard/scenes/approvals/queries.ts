import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { READ_WHOLE } from '../../api/live.ts';
import { pagedQuery, singleQuery, useAttempt } from '../../api/queries.ts';

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

const PAGE_LENGTH = 100;

const consentsQuery = (queryKey: string[], status: Consent['status']) =>
  pagedQuery(queryKey, (from) =>
    bodyOf(service.GET('/api/consents', { params: { query: { status, limit: PAGE_LENGTH, ...from } } })),
  );

/** What waits for a decision, newest first. Read as a whole after each change: somebody else may have decided any row. */
export const pendingQuery = { ...consentsQuery(['consents', 'pending'], 'pending'), meta: READ_WHOLE };

/** What was decided, or expired, newest request first. */
export const decidedQuery = (status: 'approved' | 'denied') => consentsQuery(['consents', 'decided', status], status);

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
    (reason: string) =>
      bodyOf(
        service.POST('/api/consents/{id}/deny', { params: { path: { id } }, body: reason === '' ? {} : { reason } }),
      ),
    onDecided,
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
