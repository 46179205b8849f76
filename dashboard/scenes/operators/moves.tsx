/** Mailboxes that leave as files. */
import { useQuery } from '@tanstack/react-query';
import { Choice, Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { saveFile } from '../../components/shown/save-file.ts';
import { Time } from '../../components/shown/time.tsx';
import { type Move, movesQuery, useDeleteMove, useDownload, useExport, useStartMove } from './queries.ts';
import { Table } from './table.tsx';

const FORMATS = [
  ['archive', 'Archive'],
  ['mbox', 'mbox'],
  ['maildir', 'Maildir'],
] as const;

const STATES = {
  receiving: { title: 'Upload', meaning: 'wait' },
  running: { title: 'Running', meaning: 'wait' },
  finished: { title: 'Finished', meaning: 'ok' },
  failed: { title: 'Failed', meaning: 'stop' },
} as const;

function ExportForm() {
  const begin = useExport();
  return (
    <Form
      className="flex flex-wrap items-end gap-3"
      onSubmit={(typed, form) =>
        begin.mutate(
          {
            mailbox: typed('mailbox').trim(),
            format: FORMATS.find(([value]) => value === typed('format'))?.[0] ?? 'archive',
          },
          { onSuccess: () => form.reset() },
        )
      }
    >
      <div className="w-96 max-w-full">
        <Field label="Mailbox" name="mailbox" required autoComplete="off" autoCapitalize="none" spellCheck={false} />
      </div>
      <Choice label="Format" name="format" options={FORMATS} />
      <Button type="submit" busy={begin.isPending}>
        Export
      </Button>
      <ProblemNote error={begin.error} />
    </Form>
  );
}

function Actions({ move }: { readonly move: Move }) {
  const [start, download, remove] = [useStartMove(), useDownload(), useDeleteMove()];
  return (
    <div className="grid gap-2">
      <div className="flex gap-2">
        {move.direction === 'export' && move.state === 'finished' ? (
          <Button
            aria-label={`Download ${move.id}`}
            busy={download.isPending}
            onClick={() =>
              download.mutate(move.id, {
                onSuccess: (file) => saveFile(file, `${move.mailboxId}-${move.format ?? 'export'}.tar`),
              })
            }
          >
            Download
          </Button>
        ) : null}
        {move.state === 'failed' ? (
          <Button aria-label={`Start ${move.id} again`} onClick={() => start.mutate(move.id)}>
            Start again
          </Button>
        ) : null}
        <Button look="stop" aria-label={`Delete ${move.id}`} onClick={() => remove.mutate(move.id)}>
          Delete
        </Button>
      </div>
      <ProblemNote error={start.error ?? download.error ?? remove.error} />
    </div>
  );
}

/** Exports, how far they are, and their files. */
export function MovesView() {
  const moves = useQuery(movesQuery);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-muted">
        An export has the content of a mailbox. The audit log of its organization names it, and its file is deleted
        after two days.
      </p>
      <ExportForm />
      <Loaded query={moves}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No exports">
              <p>A mailbox is written as an archive, mbox or Maildir, in the background.</p>
            </Empty>
          ) : (
            <Table
              label="Exports"
              head={['Mailbox', 'Format', 'State', 'Begun', 'Messages', 'Size', 'Deleted', 'Actions']}
              rows={data.map((move) => ({
                id: move.id,
                cells: [
                  <span key="mailbox" className="font-mono text-xs">
                    {move.mailboxId}
                  </span>,
                  move.format ?? '',
                  <div key="state">
                    <Badge meaning={STATES[move.state].meaning}>{STATES[move.state].title}</Badge>
                    {move.problem === null ? null : <p className="text-muted">{move.problem}</p>}
                  </div>,
                  <Time key="at" value={move.createdAt} />,
                  move.messages,
                  byteSize(move.sizeBytes),
                  <Time key="expires" value={move.expiresAt} />,
                  <Actions key="actions" move={move} />,
                ],
              }))}
            />
          )
        }
      </Loaded>
    </div>
  );
}
