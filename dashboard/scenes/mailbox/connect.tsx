import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { connectionSnippets, mcpSetups, TOKEN_PLACEHOLDER } from '../../../client/snippets.ts';
import { connectionQuery } from '../../api/queries.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { SnippetTabs } from '../../components/shown/snippet-tabs.tsx';
import { Time } from '../../components/shown/time.tsx';
import { type Grant, grantsQuery, loginsQuery, type Mailbox, useEndGrant } from './queries.ts';

/** @param token where it was just made; the snippets then hold it */
export function Connect({ mailbox, token }: { readonly mailbox: Mailbox; readonly token: string | undefined }) {
  const connection = useQuery(connectionQuery(mailbox.id));
  return (
    <Section
      title="Connect"
      note={
        token === undefined
          ? `Replace ${TOKEN_PLACEHOLDER} with the mailbox token. It was shown when the mailbox was created. You can create another one under Tokens.`
          : 'The snippets contain the new token while this page is open.'
      }
      className="grid min-w-0 gap-3 rounded-lg border border-line bg-panel p-4"
    >
      <Failure query={connection} />
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
    </Section>
  );
}

const ACCESSES = { full: 'reads, sends and changes', read: 'only reads', send: 'only sends' } as const;

/** Programs with access by OAuth, and how to end it. */
function ConnectedPrograms({ id }: { readonly id: string }) {
  const grants = useQuery(grantsQuery(id));
  const end = useEndGrant(id);
  const [ending, setEnding] = useState<Grant>();
  return (
    <Section
      level={3}
      title="Connected programs"
      note="Programs to which a member granted access in the browser. They have no mailbox token, and each can be ended separately."
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 border-t border-line pt-4"
    >
      <Failure query={grants} />
      <SteadyList
        label="Connected programs"
        answer={grants.data}
        rows={grants.data?.data ?? []}
        empty={<p className="text-muted">None.</p>}
      >
        {(grant) => (
          <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_auto]">
            <div className="min-w-0">
              <span className="block font-medium break-words">
                <ForeignText text={grant.clientName} />{' '}
                {grant.clientHost === null ? (
                  <span className="font-normal text-muted">(name not confirmed)</span>
                ) : (
                  <span className="font-mono text-[13px] font-normal text-muted">{grant.clientHost}</span>
                )}
              </span>
              <span className="block text-muted">
                {ACCESSES[grant.access]}, granted by <ForeignText text={grant.createdBy} />{' '}
                <Time value={grant.createdAt} />,{' '}
                {grant.lastUsedAt === null ? (
                  'not used yet'
                ) : (
                  <>
                    used <Time value={grant.lastUsedAt} />
                  </>
                )}
              </span>
            </div>
            <Button
              look="stop"
              aria-label={`End the access of ${visibleText(grant.clientName)}`}
              onClick={() => setEnding(grant)}
            >
              End
            </Button>
          </div>
        )}
      </SteadyList>
      {ending === undefined ? null : (
        <Confirm
          title={`End the access of “${visibleText(ending.clientName)}”?`}
          consequence="Its tokens become invalid at once. The program can ask again, and a member decides."
          action="End the access"
          change={end}
          onConfirm={() => end.mutate(ending.id, { onSuccess: () => setEnding(undefined) })}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Section>
  );
}

const PROTOCOLS = [
  ['api', 'API, CLI, MCP'],
  ['imap', 'IMAP'],
  ['pop3', 'POP3'],
  ['smtp', 'SMTP'],
] as const;

/** Whether the agent connects: when the token was used last on each protocol. */
function Logins({ id }: { readonly id: string }) {
  const logins = useQuery(loginsQuery(id));
  return (
    <Section
      level={3}
      title="Does it connect?"
      aside={
        <Button busy={logins.isFetching} onClick={() => void logins.refetch()}>
          Check it
        </Button>
      }
      className="grid gap-3 border-t border-line pt-4"
    >
      <Failure query={logins} />
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {PROTOCOLS.map(([protocol, title]) => {
          const used = logins.data?.data.find((each) => each.protocol === protocol);
          return (
            <div key={protocol}>
              <dt className="text-xs text-muted">{title}</dt>
              <dd className={used === undefined ? 'text-muted' : 'text-ok'}>
                {used === undefined ? 'not used yet' : <Time value={used.usedAt} />}
              </dd>
            </div>
          );
        })}
      </dl>
    </Section>
  );
}
