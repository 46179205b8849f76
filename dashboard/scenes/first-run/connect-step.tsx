import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { connectionSnippets, TOKEN_PLACEHOLDER } from '../../../client/snippets.ts';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Secret } from '../../components/shown/secret.tsx';
import { SnippetTabs } from '../../components/shown/snippet-tabs.tsx';
import { connectionQuery, type FirstMailbox } from './queries.ts';

/** @param token of a mailbox that was made on this page; the snippets then hold it */
export function ConnectStep({
  mailbox,
  token,
}: {
  readonly mailbox: FirstMailbox;
  readonly token: string | undefined;
}) {
  const connection = useQuery(connectionQuery(mailbox.id));
  return (
    <>
      <p className="text-muted">
        Run one of these with the token of{' '}
        <Link to="/mailboxes/$id" params={{ id: mailbox.id }} className="underline">
          {mailbox.address}
        </Link>
        . The step ticks when the token was used.
      </p>
      {token === undefined ? (
        <p className="text-muted">
          The token was shown when the mailbox was made. On the page of the mailbox you can rotate it for another one.
        </p>
      ) : (
        <Secret
          label="Mailbox token"
          value={token}
          note="It is shown this once. It is the password for IMAP, POP3 and SMTP and the token for the API, the CLI and MCP."
        />
      )}
      {connection.isError ? <ProblemNote error={connection.error} onRetry={() => void connection.refetch()} /> : null}
      {connection.data === undefined ? null : (
        <SnippetTabs
          label="Ways to connect"
          snippets={connectionSnippets({
            apiUrl: location.origin,
            address: mailbox.address,
            token: token ?? TOKEN_PLACEHOLDER,
            ...connection.data,
          })}
        />
      )}
    </>
  );
}
