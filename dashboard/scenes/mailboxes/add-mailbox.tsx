import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Problem } from '../../api/client.ts';
import { CreateDialog, type Made } from '../../components/forms/create-dialog.tsx';
import { Choice, Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { domainsQuery, type NewMailbox, useAddMailbox } from './queries.ts';

/** Asks for an address and a name, then shows the token, once. */
export function AddMailbox({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <CreateDialog open={open} onClose={onClose} title="Add a mailbox">
      {(onMade) => <Form onMade={(mailbox) => onMade(madeOf(mailbox))} />}
    </CreateDialog>
  );
}

const madeOf = ({ id, address, token }: NewMailbox): Made => ({
  title: address,
  description: 'The mailbox is ready.',
  secretLabel: 'Mailbox token',
  secret: token,
  note: 'It is shown this once. It is the password for IMAP, POP3 and SMTP and the token for the API, the CLI and MCP.',
  shownBefore: 'To get a new one, rotate it on the page of the mailbox.',
  next: (close) => (
    <Link
      to="/mailboxes/$id"
      params={{ id }}
      search={{ tab: 'connect' }}
      className={buttonClass('plain', 'text-text!')}
      onClick={close}
    >
      Connect an agent
    </Link>
  ),
});

function Form({ onMade }: { readonly onMade: (mailbox: NewMailbox) => void }) {
  const add = useAddMailbox();
  const domains = useQuery(domainsQuery);
  // One key for the dialog: a repeated request after a lost answer gives the same mailbox and its token.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [localPart, setLocalPart] = useState('');
  const [domain, setDomain] = useState('');
  const chosen = domain === '' ? domains.data?.[0] : domain;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = textOfField(new FormData(event.currentTarget), 'name').trim();
    add.mutate(
      {
        key,
        ...(localPart.trim() === '' ? {} : { localPart: localPart.trim() }),
        ...(name === '' ? {} : { name }),
        ...(domain === '' ? {} : { domain }),
      },
      {
        onSuccess: onMade,
        onError: (error) => {
          if (error instanceof Problem && error.status >= 400 && error.status < 500) setKey(crypto.randomUUID());
        },
      },
    );
  };
  const problem = add.error instanceof Problem ? add.error : undefined;
  const aboutLocalPart =
    problem?.about('/localPart') ?? (problem?.code === 'invalid_local_part' ? problem.message : undefined);
  return (
    <form onSubmit={submit} className="grid gap-4">
      {aboutLocalPart === undefined ? <ProblemNote error={add.error} /> : null}
      <Field
        label="Address"
        name="localPart"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="made up when left empty, like calm-otter-4821"
        value={localPart}
        onChange={(event) => {
          setLocalPart(event.target.value);
          add.reset();
        }}
        error={aboutLocalPart}
        hint={
          localPart.trim() === '' || chosen === undefined ? 'The part before the @.' : `${localPart.trim()}@${chosen}`
        }
      />
      {(domains.data?.length ?? 0) > 1 ? (
        <Choice label="Domain" value={domain} onChange={(event) => setDomain(event.target.value)}>
          {domains.data?.map((each, i) => (
            <option key={each} value={i === 0 ? '' : each}>
              {each}
            </option>
          ))}
        </Choice>
      ) : null}
      <Field
        label="Display name"
        name="name"
        autoComplete="off"
        hint="Optional. Recipients see it beside the address."
      />
      <div className="flex justify-end gap-2">
        <Button type="submit" look="primary" busy={add.isPending}>
          Add mailbox
        </Button>
      </div>
    </form>
  );
}
