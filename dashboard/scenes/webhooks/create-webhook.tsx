import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useId, useState } from 'react';
import { Choice, Field, Form, Submit, type Typed } from '../../components/forms/form.tsx';
import { CreateDialog, type Made } from '../../components/forms/secret-dialog.tsx';
import { buttonClass } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { type EventType, mailboxChoicesQuery, type NewWebhook, useCreateWebhook } from './queries.ts';
import {
  type AuthHeader,
  DeliveryOptionFields,
  type DeliveryOptions,
  EventPicker,
  HeaderFields,
  UrlField,
  webhookProblems,
} from './webhook-form.tsx';

/** Makes an endpoint and shows its secret this once. */
export function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  return (
    <CreateDialog
      onClose={onClose}
      title="Add webhook"
      description="Signed JSON notifications to an HTTPS address of yours."
    >
      {(onMade) => <CreateForm onMade={(webhook) => onMade(madeOf(webhook))} />}
    </CreateDialog>
  );
}

const madeOf = ({ id, url, secret }: NewWebhook): Made => ({
  title: 'The webhook is ready',
  description: new URL(url).host,
  label: 'Signing secret',
  secret,
  note: 'It is shown this once. Your server verifies the signature of each request with it (Standard Webhooks).',
  shownBefore: 'Rotate it on the page of the webhook to get another one.',
  next: (close) => (
    <Link to="/webhooks/$id" params={{ id }} className={buttonClass('plain', 'text-text!')} onClick={close}>
      Open the webhook
    </Link>
  ),
});

const SCOPES = [
  ['organization', 'The whole organization'],
  ['mailbox', 'One mailbox'],
] as const;

function CreateForm({ onMade }: { readonly onMade: (webhook: NewWebhook) => void }) {
  const create = useCreateWebhook();
  const [key] = useState(() => crypto.randomUUID());
  const [tries, setTries] = useState(0);
  const [url, setUrl] = useState('');
  const [scope, setScope] = useState<(typeof SCOPES)[number][0]>('organization');
  const [mailbox, setMailbox] = useState<{ text: string; id: string | undefined }>({ text: '', id: undefined });
  const [chosen, setChosen] = useState<EventType[]>(['email_received']);
  const [header, setHeader] = useState<AuthHeader>({ name: '', value: '' });
  const [options, setOptions] = useState<DeliveryOptions>({ publicKeySignature: false, includeExtracts: false });
  const [missing, setMissing] = useState<string>();
  const about = webhookProblems(create.error);
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      setMissing(undefined);
      create.reset();
    };
  const submit = (typed: Typed) => {
    if (chosen.length === 0) return setMissing('events');
    if (scope === 'mailbox' && mailbox.id === undefined) return setMissing('mailbox');
    const description = typed('description').trim();
    setTries(tries + 1);
    create.mutate(
      {
        // A corrected form is another request.
        key: `${key}-${tries}`,
        url: url.trim(),
        eventTypes: chosen,
        ...(scope === 'mailbox' && mailbox.id !== undefined ? { mailboxId: mailbox.id } : {}),
        ...(description === '' ? {} : { description }),
        ...options,
        ...(header.name === '' && header.value === '' ? {} : { authHeader: header }),
      },
      { onSuccess: onMade },
    );
  };
  return (
    <Form onSubmit={submit} className="grid gap-5">
      <ProblemNote error={about.other} />
      <UrlField value={url} onChange={change(setUrl)} error={about.url} />
      <Choice
        label="About"
        value={scope}
        options={SCOPES}
        onChoose={(next) => {
          setScope(next);
          create.reset();
        }}
        hint={scope === 'organization' ? 'Every mailbox there is and every one to come.' : undefined}
      />
      {scope === 'mailbox' ? (
        <MailboxChoice
          value={mailbox.text}
          onChange={(text, id) => change(setMailbox)({ text, id })}
          error={about.mailbox ?? (missing === 'mailbox' ? 'There is no mailbox with this address.' : undefined)}
        />
      ) : null}
      <EventPicker
        chosen={chosen}
        onChange={change(setChosen)}
        mailboxScope={scope === 'mailbox'}
        error={about.events ?? (missing === 'events' ? 'Choose at least one event.' : undefined)}
      />
      <Field label="Description" name="description" autoComplete="off" hint="Optional. For people." />
      <HeaderFields header={header} onChange={change(setHeader)} error={about.header} />
      <DeliveryOptionFields options={options} onChange={change(setOptions)} />
      <Submit busy={create.isPending}>Add webhook</Submit>
    </Form>
  );
}

interface MailboxChoiceProps {
  /** What is typed: an address once it is chosen. */
  readonly value: string;
  readonly onChange: (address: string, id: string | undefined) => void;
  readonly error?: string | undefined;
}

/** One of many mailboxes, found by the service while its address is typed. */
function MailboxChoice({ value, onChange, error }: MailboxChoiceProps) {
  const listId = useId();
  const asked = useDeferredValue(value.trim());
  const found = useQuery(mailboxChoicesQuery(asked)).data?.data ?? [];
  const change = (text: string) => {
    const address = text.trim().toLowerCase();
    onChange(text, found.find((each) => each.address.toLowerCase() === address)?.id);
  };
  return (
    <>
      <Field
        label="Mailbox"
        list={listId}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="Address"
        value={value}
        onChange={(event) => change(event.target.value)}
        // What was found a moment after it was typed.
        onBlur={() => change(value)}
        error={error}
        hint="Only what happens in this mailbox. It cannot be changed later."
      />
      <datalist id={listId}>
        {found.map(({ id, address, name }) => (
          <option key={id} value={address} label={name} />
        ))}
      </datalist>
    </>
  );
}
