import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mailboxQuery } from '../../api/queries.ts';
import { Secret } from '../../components/forms/secret-dialog.tsx';
import { buttonClass } from '../../components/frame/button.tsx';
import { NotLoaded, PageHead } from '../../components/frame/page.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { Tabs } from '../../components/shown/tabs.tsx';
import { Connect } from './connect.tsx';
import { MailboxOverview } from './overview.tsx';
import { MailboxSettings } from './settings.tsx';
import { Tokens } from './tokens.tsx';

const MAILBOX_TABS = ['overview', 'connect', 'tokens', 'settings'] as const;
type MailboxTab = (typeof MAILBOX_TABS)[number];

interface MailboxPageProps {
  readonly id: string;
  readonly tab: MailboxTab;
  readonly onTab: (tab: MailboxTab) => void;
}

export function MailboxPage({ id, tab, onTab }: MailboxPageProps) {
  const mailbox = useQuery(mailboxQuery(id));
  const [token, setToken] = useState<string>();
  if (mailbox.data === undefined) return <NotLoaded title="Mailbox" query={mailbox} />;
  const { data } = mailbox;
  return (
    <>
      <p className="mb-1">
        <Link to="/mailboxes">Mailboxes</Link>
      </p>
      <PageHead title={data.address} note={data.name === '' ? undefined : <ForeignText text={data.name} />}>
        <Copy text={data.address} what="address" />
        <Link to="/mailboxes/$id/outbox" params={{ id }} className={buttonClass('plain', 'text-text!')}>
          Outbox
        </Link>
        <Link to="/mailboxes/$id/mail" params={{ id }} className={buttonClass('primary')}>
          Read mail
        </Link>
      </PageHead>
      {token === undefined ? null : (
        <div className="mb-4">
          <Secret
            label="Mailbox token"
            value={token}
            note="It is shown this once. The token before it no longer works. The snippets under Connect hold it while this page is open."
          />
        </div>
      )}
      <Tabs
        label="Parts of the mailbox"
        shown={tab}
        onShow={(next) => onTab(MAILBOX_TABS.find((each) => each === next) ?? 'overview')}
        tabs={[
          { id: 'overview', title: 'Overview', content: <MailboxOverview mailbox={data} /> },
          { id: 'connect', title: 'Connect', content: <Connect mailbox={data} token={token} /> },
          { id: 'tokens', title: 'Tokens', content: <Tokens mailbox={data} /> },
          {
            id: 'settings',
            title: 'Settings',
            content: (
              <MailboxSettings
                mailbox={data}
                onToken={(next) => {
                  setToken(next);
                  onTab('connect');
                }}
              />
            ),
          },
        ]}
      />
    </>
  );
}
