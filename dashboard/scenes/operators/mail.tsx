/** Mail across tenants: envelopes and steps, never subjects and content. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Time } from '../../components/shown/time.tsx';
import { foundMailQuery, type QueueAction, type QueuedMail, queueQuery, useControlQueue } from './queries.ts';
import { Table } from './table.tsx';

function Search({
  label,
  action,
  onSearch,
}: {
  readonly label: string;
  readonly action: string;
  readonly onSearch: (text: string) => void;
}) {
  return (
    <Form className="flex flex-wrap items-end gap-3" onSubmit={(typed) => onSearch(typed('text').trim())}>
      <div className="w-96 max-w-full">
        <Field label={label} name="text" autoComplete="off" autoCapitalize="none" spellCheck={false} />
      </div>
      <Button type="submit">{action}</Button>
    </Form>
  );
}

/** Outgoing mail that waits, the oldest first. */
export function QueueView() {
  const [to, setTo] = useState('');
  const queue = useQuery(queueQuery(to));
  const control = useControlQueue();
  const [dropping, setDropping] = useState<QueuedMail>();
  const act = (id: string, action: QueueAction) => control.mutate({ id, action });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Search label="Only to this domain or address" action="Filter" onSearch={setTo} />
      <ProblemNote error={dropping === undefined ? control.error : null} />
      <Loaded query={queue}>
        {({ count, messages }) =>
          messages.length === 0 ? (
            <Empty title="No outgoing mail waits">
              <p>{to === '' ? 'Everything is sent.' : `Nothing waits for ${to}.`}</p>
            </Empty>
          ) : (
            <>
              <p className="text-muted">
                {count} wait{messages.length < count ? `; the oldest ${messages.length} are shown` : ''}.
              </p>
              <Table
                label="Queue"
                head={['Message', 'State', 'Submitted', 'From', 'Open recipients', 'Actions']}
                rows={messages.map((mail) => ({
                  id: mail.id,
                  cells: [
                    <span key="id" className="font-mono text-xs">
                      {mail.id}
                    </span>,
                    mail.state,
                    <Time key="at" value={mail.submittedAt} />,
                    mail.from,
                    <ul key="to" className="grid gap-1">
                      {mail.recipients.map(({ address, reply }) => (
                        <li key={address}>
                          {address} {reply === null ? null : <span className="text-muted">{reply}</span>}
                        </li>
                      ))}
                    </ul>,
                    <div key="actions" className="flex gap-2">
                      {mail.state === 'on hold' ? (
                        <Button aria-label={`Release ${mail.id}`} onClick={() => act(mail.id, 'release')}>
                          Release
                        </Button>
                      ) : (
                        <Button aria-label={`Hold ${mail.id}`} onClick={() => act(mail.id, 'hold')}>
                          Hold
                        </Button>
                      )}
                      <Button aria-label={`Retry ${mail.id}`} onClick={() => act(mail.id, 'retry')}>
                        Retry
                      </Button>
                      <Button look="stop" aria-label={`Drop ${mail.id}`} onClick={() => setDropping(mail)}>
                        Drop
                      </Button>
                    </div>,
                  ],
                }))}
              />
            </>
          )
        }
      </Loaded>
      {dropping === undefined ? null : (
        <Confirm
          title="Drop this message?"
          consequence="Recipients who do not have it will not get it. It cannot be undone."
          action="Drop"
          change={control}
          onConfirm={() =>
            control.mutate({ id: dropping.id, action: 'drop' }, { onSuccess: () => setDropping(undefined) })
          }
          onClose={() => setDropping(undefined)}
        />
      )}
    </div>
  );
}

/** Every step of a mail, refused ones included. */
export function FindMailView() {
  const [about, setAbout] = useState('');
  const found = useQuery(foundMailQuery(about));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Search label="Address, Message-ID or id" action="Find" onSearch={setAbout} />
      {about === '' ? null : (
        <Loaded query={found}>
          {({ steps, more }) =>
            steps.length === 0 ? (
              <Empty title="No mail was found">
                <p>Refused mail is found for 30 days.</p>
              </Empty>
            ) : (
              <>
                {more ? <p className="text-muted">There are more; only the newest are shown.</p> : null}
                <Table
                  label="Steps"
                  head={['Time', 'Message', 'Step', 'Outcome', 'From', 'To', 'Answer']}
                  rows={steps.map((step, i) => ({
                    id: `${step.id} ${i}`,
                    cells: [
                      <Time key="at" value={step.at} />,
                      <span key="id" className="font-mono text-xs">
                        {step.id}
                      </span>,
                      step.step,
                      step.outcome ?? '',
                      step.from ?? '<>',
                      step.to.join(', '),
                      typeof step.details['reply'] === 'string' ? step.details['reply'] : '',
                    ],
                  }))}
                />
              </>
            )
          }
        </Loaded>
      )}
    </div>
  );
}
