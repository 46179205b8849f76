import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useChange } from '../../api/queries.ts';

export type Notice = Schemas['MemberNotice'];
export type NoticeSettings = Schemas['NoticeSettings'];
export type ApprovalMail = NoticeSettings['approvals'];
export type ChatForm = NonNullable<NoticeSettings['chat']>['form'];

/** What is left out stays as it is. */
interface NoticeSettingsChange {
  approvals: ApprovalMail;
  incoming?: NoticeSettings['incoming'];
  /** Null: as if nothing was chosen. */
  digest?: NoticeSettings['digest'];
  /** Null: none. */
  quietHours?: NoticeSettings['quietHours'];
  /** Null: none. */
  chat?: { form: ChatForm; url: string } | null;
}

/** What the service sent to members and invited people. */
export const noticesQuery = pagedQuery(['notices', 'sent'], (from) =>
  bodyOf(service.GET('/api/notices', { params: { query: from } })),
);

/** How the person is notified of mail that waits. */
export const noticeSettingsQuery = singleQuery(['notices', 'settings'], () =>
  bodyOf(service.GET('/api/sessions/current/notices')),
);

export function useChangeNoticeSettings() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NoticeSettingsChange) => bodyOf(service.PUT('/api/sessions/current/notices', { body })),
    onSuccess: (settings) => queries.setQueryData(noticeSettingsQuery.queryKey, settings),
  });
}

export const useTestChat = () =>
  useChange<void, unknown>(() => bodyOf(service.POST('/api/sessions/current/notices/test')), ['notices']);
