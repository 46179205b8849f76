import { useQuery } from '@tanstack/react-query';
import { connectionSnippets, mcpSetups, TOKEN_PLACEHOLDER } from '../../../client/snippets.ts';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { SnippetTabs } from '../../components/shown/snippet-tabs.tsx';
import { ConnectedPrograms } from './connected-programs.tsx';
import { Logins } from './logins.tsx';
import { connectionQuery, type Mailbox } from './queries.ts';

/** @param token where it was just made; the snippets then hold it */
export function Connect({ mailbox, token }: { readonly mailbox: Mailbox; readonly token: string | undefined }) {
  const connection = useQuery(connectionQuery(mailbox.id));
  return (
    <section aria-labelledby="connect" className="grid min-w-0 gap-3 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="connect">Connect</h2>
        <p className="text-muted">
          {token === undefined
            ? `Replace ${TOKEN_PLACEHOLDER} with the mailbox token. It was shown when the mailbox was created. You can create another one under Tokens.`
            : 'The snippets contain the new token while this page is open.'}
        </p>
      </div>
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
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 border-t border-line pt-4">
        <div>
          <h3 className="font-medium">MCP hosts</h3>
          <p className="text-muted">
            {token === undefined
              ? 'One line each. No token is needed: the browser opens, and you pick the mailbox and what the host may do.'
              : 'One line each, with the new token.'}
          </p>
        </div>
        <SnippetTabs label="MCP hosts" snippets={mcpSetups(location.origin, token)} />
      </div>
      <ConnectedPrograms id={mailbox.id} />
      <Logins id={mailbox.id} />
    </section>
  );
}
