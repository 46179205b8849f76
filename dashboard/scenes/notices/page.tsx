import { useInfiniteQuery } from '@tanstack/react-query';
import { useMayManage } from '../../api/session.ts';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { PagedList } from '../../components/lists/paged-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Badge, type Meaning } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { MySettings } from './my-settings.tsx';
import { type Notice, noticesQuery } from './queries.ts';

const STATES: Readonly<Record<string, readonly [Meaning, string]>> = {
  waiting: ['wait', 'Waiting'],
  sent: ['ok', 'Sent'],
  captured: ['info', 'Kept here'],
  failed: ['stop', 'Failed'],
};

/** What the service writes to people. */
export function NoticesPage() {
  const mayManage = useMayManage();
  return (
    <>
      <PageHead title="Notices" />
      <div className="grid gap-8">
        <MySettings />
        {mayManage ? <SentNotices /> : null}
      </div>
    </>
  );
}

function SentNotices() {
  const list = useInfiniteQuery(noticesQuery);
  return (
    <section aria-labelledby="sent-notices" className="grid gap-3">
      <div>
        <h2 id="sent-notices">Sent by the service</h2>
        <p className="text-muted">
          Mail to members and invited people, and messages to their chats. “Kept here” means that it was not sent to
          another host and can be read in this list.
        </p>
      </div>
      <PagedList
        label="Notices"
        query={list}
        empty={
          <Empty title="No notices yet">
            <p>When a webhook fails for days, or a person is invited, the mail about it is listed here.</p>
          </Empty>
        }
      >
        {(notice) => <NoticeRow notice={notice} />}
      </PagedList>
    </section>
  );
}

function NoticeRow({ notice }: { readonly notice: Notice }) {
  const [meaning, words] = STATES[notice.state] ?? (['none', notice.state] as const);
  return (
    <details>
      <summary className="grid cursor-pointer items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_100px_110px]">
        <span className="min-w-0 truncate font-medium">
          <ForeignText text={notice.subject} />
        </span>
        <span className="min-w-0 truncate text-muted">{notice.recipient}</span>
        <span>
          <Badge meaning={meaning}>{words}</Badge>
        </span>
        <span className="text-muted sm:text-right">
          <Time value={notice.createdAt} />
        </span>
      </summary>
      <div className="mt-3 grid gap-2">
        <p className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 break-words whitespace-pre-wrap">{notice.text}</p>
        <p className="text-muted">
          {notice.attempts === 1 ? 'One attempt' : `${notice.attempts} attempts`}
          {notice.reply === null ? '' : `; the last answer was “${notice.reply}”`}
        </p>
      </div>
    </details>
  );
}
