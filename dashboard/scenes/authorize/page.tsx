import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Choice, Field, Form, type Typed } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { PageHead, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import {
  type Access,
  mailboxChoicesQuery,
  type OAuthRequest,
  queryOfRequest,
  requestQuery,
  useDecide,
} from './queries.ts';

const ACCESSES: Readonly<Record<Access, readonly [title: string, sentence: string]>> = {
  full: ['Read, send and change', 'All that the agent of this mailbox may do, deleting mail included.'],
  read: ['Only read', 'Can read, search and wait for mail. Cannot change or send anything.'],
  send: ['Only send', 'Can send as this mailbox. Cannot read mail.'],
};

/** A program asks for a mailbox by OAuth: the person sees the program, picks the mailbox and the access, and decides. */
export function AuthorizePage({ request }: { readonly request: string }) {
  const query = queryOfRequest(request);
  const asked = useQuery(requestQuery(query));
  return (
    <div className="grid max-w-lg grid-cols-[minmax(0,1fr)] gap-5">
      <PageHead title="Connect a program" />
      {query === '' ? (
        <p>This address is incomplete. Start again in the program that wants to use a mailbox.</p>
      ) : asked.isError ? (
        <ProblemNote error={asked.error} />
      ) : asked.data === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <Question asked={asked.data} />
      )}
    </div>
  );
}

function Question({ asked }: { readonly asked: OAuthRequest }) {
  const decide = useDecide(asked.id);
  if (decide.isSuccess)
    return (
      <p role="status">
        {decide.variables === null
          ? 'The program was refused. It has no access.'
          : 'The program is connected. Go back to it. You can end its access on the page of the mailbox, under Connect.'}
      </p>
    );
  return (
    <>
      <section
        aria-label="The program"
        className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line bg-panel p-4"
      >
        <p className="text-base break-words">
          <strong className="font-semibold">
            <ForeignText text={asked.clientName} />
          </strong>{' '}
          asks to use one of your mailboxes.
        </p>
        <dl className="grid grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-1.5 break-words">
          <dt className="text-muted">Name given by</dt>
          {asked.clientHost === null ? (
            <dd>the program itself; nobody has confirmed it</dd>
          ) : (
            <dd className="font-mono text-[13px] leading-6">{asked.clientHost}</dd>
          )}
          <dt className="text-muted">Access goes to</dt>
          <dd>
            {asked.redirectHost === null ? (
              'a program on this computer'
            ) : (
              <span className="font-mono text-[13px] leading-6">{asked.redirectHost}</span>
            )}
          </dd>
        </dl>
      </section>
      <Terms asked={asked} decide={decide} />
    </>
  );
}

function Terms({ asked, decide }: { readonly asked: OAuthRequest; readonly decide: ReturnType<typeof useDecide> }) {
  const [search, setSearch] = useState('');
  const mailboxes = useQuery(mailboxChoicesQuery(search));
  const hasMore = search !== '' || (mailboxes.data?.nextCursor ?? null) !== null;
  const submit = (typed: Typed): void => {
    const access = asked.accesses.find((each) => each === typed('access'));
    const mailboxId = typed('mailbox');
    if (access !== undefined && mailboxId !== '') decide.mutate({ mailboxId, access });
  };
  return (
    <Form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <ProblemNote error={mailboxes.error ?? decide.error} />
      {hasMore ? (
        <Field
          label="Find a mailbox"
          type="search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          spellCheck={false}
        />
      ) : null}
      <Choice
        label="Mailbox"
        name="mailbox"
        required
        options={(mailboxes.data?.data ?? []).map(({ id, address }) => [id, address])}
      />
      {mailboxes.data?.data.length === 0 ? (
        <p className="text-muted">There is no such mailbox in this organization.</p>
      ) : null}
      <fieldset className="grid gap-2">
        <legend className="mb-1 font-medium">What it may do</legend>
        {asked.accesses.map((access, i) => (
          <label
            key={access}
            className="grid cursor-pointer grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 rounded-md border border-line bg-panel px-3 py-2.5 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input type="radio" name="access" value={access} defaultChecked={i === 0} className="accent-accent" />
            <span>
              <span className="block font-medium">{ACCESSES[access][0]}</span>
              <span className="block text-muted">{ACCESSES[access][1]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p>
        Connect it only if you started this in the program just now. It can never approve mail that is held for you. If
        somebody sent you this address, refuse.
      </p>
      <div className="flex flex-wrap gap-3">
        <Button
          type="submit"
          look="primary"
          busy={decide.isPending}
          disabled={(mailboxes.data?.data.length ?? 0) === 0}
        >
          Connect it
        </Button>
        <Button look="stop" busy={decide.isPending} onClick={() => decide.mutate(null)}>
          Refuse
        </Button>
      </div>
    </Form>
  );
}
