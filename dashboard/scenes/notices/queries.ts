import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type Notice = Schemas['MemberNotice'];
export type NoticeSettings = Schemas['NoticeSettings'];
export type ApprovalMail = NoticeSettings['approvals'];
export type ChatForm = NonNullable<NoticeSettings['chat']>['form'];

export interface NoticeSettingsChange {
  approvals: ApprovalMail;
  /** Null: none. Left out: as it is. */
  chat?: { form: ChatForm; url: string } | null;
}

/** What the service sent to members and invited people. */
export const noticesQuery = infiniteQueryOptions({
  queryKey: ['notices', 'sent'],
  queryFn: ({ pageParam }) =>
    bodyOf(service.GET('/api/notices', { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

/** How the person is notified of mail that waits. */
export const noticeSettingsQuery = queryOptions({
  queryKey: ['notices', 'settings'],
  queryFn: () => bodyOf(service.GET('/api/sessions/current/notices')),
});

export function useChangeNoticeSettings() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NoticeSettingsChange) => bodyOf(service.PUT('/api/sessions/current/notices', { body })),
    onSuccess: (settings) => queries.setQueryData(noticeSettingsQuery.queryKey, settings),
  });
}

export function useTestChat() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => bodyOf(service.POST('/api/sessions/current/notices/test')),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['notices'] }),
  });
}
