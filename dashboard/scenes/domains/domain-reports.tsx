import { useQuery } from '@tanstack/react-query';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { type DomainReports, domainReportsQuery } from './queries.ts';

const FAILURES_SHOWN_MAX = 10;
const SOURCES_SHOWN_MAX = 10;

const share = (part: number, all: number): string =>
  all === 0 ? '' : ` (${((100 * part) / all).toFixed(part === all || part === 0 ? 0 : 1)} %)`;

/** What other hosts reported about mail of a domain in the last 30 days. */
export function DomainReportsSection({ domain }: { readonly domain: string }) {
  const reports = useQuery(domainReportsQuery(domain));
  return (
    <Section
      title="What other hosts report"
      note="Mail in the name of this domain, as its receivers saw it, and failed TLS, in the last 30 days. Hosts send a report a day where the records above ask for it."
      className="mt-8 grid gap-3"
    >
      <Loaded query={reports} rows={2}>
        {({ data: [found] }) =>
          found === undefined ? <p className="text-muted">No report came yet.</p> : <Reports reports={found} />
        }
      </Loaded>
    </Section>
  );
}

function Reports({ reports: { dmarc, tls } }: { readonly reports: DomainReports }) {
  return (
    <>
      {dmarc === null ? null : (
        <div className="grid gap-2">
          <p>
            {dmarc.passed} of {dmarc.messages} messages{share(dmarc.passed, dmarc.messages)} passed DMARC, in{' '}
            {dmarc.reports} {dmarc.reports === 1 ? 'report' : 'reports'} of {dmarc.reporters.join(', ')}.
          </p>
          <Table
            label="Where mail came from"
            heads={['Address', 'Messages', 'Passed', 'Refused or in junk']}
            rows={dmarc.sources
              .slice(0, SOURCES_SHOWN_MAX)
              .map(({ address, messages, passed, quarantined, rejected }) => [
                address,
                messages,
                `${passed}${share(passed, messages)}`,
                quarantined + rejected,
              ])}
          />
        </div>
      )}
      {tls === null ? null : (
        <div className="grid gap-2">
          <p>
            {tls.failed} of {tls.sessions} connections{share(tls.failed, tls.sessions)} failed to use TLS, in{' '}
            {tls.reports} {tls.reports === 1 ? 'report' : 'reports'} of {tls.reporters.join(', ')}.
          </p>
          {tls.failures.length === 0 ? null : (
            <Table
              label="Failed TLS"
              heads={['Failure', 'Host', 'Connections']}
              rows={tls.failures
                .slice(0, FAILURES_SHOWN_MAX)
                .map(({ type, host, sessions }) => [type, host === '' ? 'not named' : host, sessions])}
            />
          )}
        </div>
      )}
    </>
  );
}

interface TableProps {
  readonly label: string;
  /** The first column and the ones of text are on the left; numbers on the right. */
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

function Table({ label, heads, rows }: TableProps) {
  const isNumber = (column: number) => column >= heads.length - (heads.length === 3 ? 1 : 3);
  return (
    <div className="overflow-x-auto">
      <table aria-label={label} className="w-full text-left">
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th
                key={head}
                scope="col"
                className={`text-muted pr-4 font-medium ${isNumber(column) ? 'text-right' : ''}`}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells.slice(0, 2).join(' ')}>
              {cells.map((cell, column) => (
                <td
                  key={heads[column]}
                  className={`border-line border-t py-1 pr-4 break-all ${isNumber(column) ? 'text-right tabular-nums' : ''}`}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
