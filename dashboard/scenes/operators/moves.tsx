/** Mailboxes that leave as files, and mail that comes from files and servers. */
import { useQuery } from '@tanstack/react-query';
import { Choice, Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { saveFile } from '../../components/shown/save-file.ts';
import { Time } from '../../components/shown/time.tsx';
import {
  type Move,
  movesQuery,
  useDeleteMove,
  useDownload,
  useExport,
  useImportFile,
  useImportServer,
  useStartMove,
} from './queries.ts';
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
      <MailboxField />
      <Choice label="Format" name="format" options={FORMATS} />
      <Button type="submit" busy={begin.isPending}>
        Export
      </Button>
      <ProblemNote error={begin.error} />
    </Form>
  );
}

const MailboxField = () => (
  <div className="grid w-96 max-w-full grid-cols-[minmax(0,1fr)]">
    <Field label="Mailbox" name="mailbox" required autoComplete="off" autoCapitalize="none" spellCheck={false} />
  </div>
);

/** Of a file, which the page sends in portions. */
function FileForm() {
  const upload = useImportFile();
  return (
    <Form
      className="flex flex-wrap items-end gap-3"
      onSubmit={(typed, form) => {
        const file = new FormData(form).get('file');
        if (file instanceof File && file.size > 0)
          upload.mutate({ mailbox: typed('mailbox').trim(), file }, { onSuccess: () => form.reset() });
      }}
    >
      <MailboxField />
      <div className="grid w-96 max-w-full grid-cols-[minmax(0,1fr)]">
        <Field
          label="File"
          name="file"
          type="file"
          required
          hint="mbox, an archive, or a tar file of a Maildir or mbox"
        />
      </div>
      <Button type="submit" busy={upload.isPending}>
        Import file
      </Button>
      <ProblemNote error={upload.error} />
    </Form>
  );
}

/** Of an IMAP server. */
function ServerForm() {
  const begin = useImportServer();
  return (
    <Form
      className="flex flex-wrap items-end gap-3"
      onSubmit={(typed, form) =>
        begin.mutate(
          {
            mailbox: typed('mailbox').trim(),
            imap: { url: typed('url').trim(), user: typed('user').trim(), password: typed('password') },
          },
          { onSuccess: () => form.reset() },
        )
      }
    >
      <MailboxField />
      <Field label="Server" name="url" required placeholder="imaps://mail.example.org" autoComplete="off" />
      <Field label="User" name="user" required autoComplete="off" autoCapitalize="none" />
      <Field label="Password" name="password" type="password" required autoComplete="off" />
      <Button type="submit" busy={begin.isPending}>
        Import from server
      </Button>
      <ProblemNote error={begin.error} />
    </Form>
  );
}

/** What an import did not take, or not as it was. */
function Report({ move: { id, report } }: { readonly move: Move }) {
  if (report === null || report.problemCount === 0) return null;
  return (
    <details>
      <summary aria-label={`What to look at in ${id}`}>{report.problemCount} to look at</summary>
      <ul className="grid gap-1 text-muted">
        {report.problems.map(({ where, problem }) => (
          <li key={`${where} ${problem}`}>
            {where}: {problem}
          </li>
        ))}
      </ul>
    </details>
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

/** Exports and imports, how far they are, and their files. */
export function MovesView() {
  const moves = useQuery(movesQuery);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-muted">
        An export has the content of a mailbox. The audit log of its organization names it, and its file is deleted
        after two days.
      </p>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 overflow-x-auto p-1">
        <section aria-label="Export" className="grid gap-2">
          <ExportForm />
        </section>
        <section aria-label="Import a file" className="grid gap-2">
          <FileForm />
        </section>
        <section aria-label="Import from a server" className="grid gap-2">
          <ServerForm />
        </section>
      </div>
      <Loaded query={moves}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No exports and imports">
              <p>They go on in the background, and are listed here for some days.</p>
            </Empty>
          ) : (
            <Table
              label="Exports and imports"
              head={['Direction', 'Mailbox', 'Format', 'State', 'Begun', 'Messages', 'Size', 'Deleted', 'Actions']}
              rows={data.map((move) => ({
                id: move.id,
                cells: [
                  move.direction,
                  <span key="mailbox" className="font-mono text-xs">
                    {move.mailboxId}
                  </span>,
                  move.format ?? '',
                  <div key="state">
                    <Badge meaning={STATES[move.state].meaning}>{STATES[move.state].title}</Badge>
                    {move.problem === null ? null : <p className="text-muted">{move.problem}</p>}
                    <Report move={move} />
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
