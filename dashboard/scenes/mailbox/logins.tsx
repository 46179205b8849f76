import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Time } from '../../components/shown/time.tsx';
import { loginsQuery } from './queries.ts';

const PROTOCOLS = [
  ['api', 'API, CLI, MCP'],
  ['imap', 'IMAP'],
  ['pop3', 'POP3'],
  ['smtp', 'SMTP'],
] as const;

/** Whether the agent connects: when the token was used last on each protocol. */
export function Logins({ id }: { readonly id: string }) {
  const logins = useQuery(loginsQuery(id));
  return (
    <section aria-labelledby="logins" className="grid gap-3 border-t border-line pt-4">
      <div className="flex flex-wrap items-center gap-3">
        <h3 id="logins" className="flex-1 font-medium">
          Does it connect?
        </h3>
        <Button busy={logins.isFetching} onClick={() => void logins.refetch()}>
          Check it
        </Button>
      </div>
      {logins.isError ? <ProblemNote error={logins.error} onRetry={() => void logins.refetch()} /> : null}
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
    </section>
  );
}
