import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { saveFile } from '../../components/shown/save-file.ts';
import { Time } from '../../components/shown/time.tsx';
import { erasuresQuery, usesQuery } from './queries.ts';
import { Table } from './table.tsx';

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

/** Erasures with how far they are; each ends with a receipt. */
export function ErasuresView() {
  const erasures = useQuery(erasuresQuery);
  return (
    <Loaded query={erasures}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="Nothing was erased">
            <p>Erasures by command and by HTTP are listed here.</p>
          </Empty>
        ) : (
          <Table
            label="Erasures"
            head={['Erasure', 'Kind', 'State', 'Begun', 'Rows', 'Receipt']}
            rows={data.map(({ id, kind, state, startedAt, counts, receipt }) => ({
              id,
              cells: [
                <span key="id" className="font-mono text-xs">
                  {id}
                </span>,
                kind,
                <Badge key="state" meaning={state === 'finished' ? 'ok' : 'wait'}>
                  {state === 'finished' ? 'Finished' : 'Running'}
                </Badge>,
                <Time key="at" value={startedAt} />,
                sum(counts),
                receipt === null ? (
                  ''
                ) : (
                  <Button
                    key="save"
                    aria-label={`Save the receipt of ${id}`}
                    onClick={() => saveFile(new Blob([receipt]), `${id}.json`)}
                  >
                    Save
                  </Button>
                ),
              ],
            }))}
          />
        )
      }
    </Loaded>
  );
}

/** What operators did. */
export function LogView() {
  const uses = useQuery(usesQuery);
  return (
    <Loaded query={uses}>
      {({ data }) => (
        <Table
          label="Log"
          head={['Time', 'Operation', 'About', 'Answer', 'From', 'Request']}
          rows={data.map(({ id, at, operation, via, targetId, status, ipAddress, requestId }) => ({
            id,
            cells: [
              <Time key="at" value={at} />,
              operation,
              <span key="target" className="font-mono text-xs">
                {targetId ?? ''}
              </span>,
              status ?? '…',
              ipAddress ?? via,
              <span key="request" className="font-mono text-xs">
                {requestId ?? ''}
              </span>,
            ],
          }))}
        />
      )}
    </Loaded>
  );
}
