import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Problem } from '../../../api/client.ts';
import { CreateDialog, type Made } from '../../../components/forms/create-dialog.tsx';
import { Choice, Field } from '../../../components/forms/field.tsx';
import { textOfField } from '../../../components/forms/form-text.ts';
import { Button, buttonClass } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { DeliveryOptionFields, type DeliveryOptions } from '../form/delivery-options.tsx';
import { EventPicker } from '../form/event-picker.tsx';
import { type AuthHeader, HeaderFields } from '../form/header-fields.tsx';
import { UrlField } from '../form/url-field.tsx';
import { type EventType, type NewWebhook, useCreateWebhook } from '../queries.ts';
import { MailboxChoice } from './mailbox-choice.tsx';

/** Makes an endpoint and shows its secret this once. */
export function CreateWebhook({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <CreateDialog
      open={open}
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
  secretLabel: 'Signing secret',
  secret,
  note: 'It is shown this once. Your server verifies the signature of each request with it (Standard Webhooks).',
  shownBefore: 'Rotate it on the page of the webhook to get another one.',
  next: (close) => (
    <Link to="/webhooks/$id" params={{ id }} className={buttonClass('plain', 'text-text!')} onClick={close}>
      Open the webhook
    </Link>
  ),
});

function CreateForm({ onMade }: { readonly onMade: (webhook: NewWebhook) => void }) {
  const create = useCreateWebhook();
  const [key] = useState(() => crypto.randomUUID());
  const [tries, setTries] = useState(0);
  const [url, setUrl] = useState('');
  const [scope, setScope] = useState<'organization' | 'mailbox'>('organization');
  const [mailbox, setMailbox] = useState<{ text: string; id: string | undefined }>({ text: '', id: undefined });
  const [chosen, setChosen] = useState<EventType[]>(['email_received']);
  const [header, setHeader] = useState<AuthHeader>({ name: '', value: '' });
  const [options, setOptions] = useState<DeliveryOptions>({ publicKeySignature: false, includeExtracts: false });
  const [missing, setMissing] = useState<string>();
  const problem = create.error instanceof Problem ? create.error : undefined;
  const about = {
    url: problem?.about('/url'),
    events: problem?.details.find(({ path }) => path.startsWith('/eventTypes'))?.message,
    header: problem?.about('/authHeader'),
    mailbox: problem?.about('/mailboxId'),
  };
  const isPlaced = Object.values(about).some((each) => each !== undefined);
  const change =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      setMissing(undefined);
      create.reset();
    };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (chosen.length === 0) return setMissing('events');
    if (scope === 'mailbox' && mailbox.id === undefined) return setMissing('mailbox');
    const description = textOfField(new FormData(event.currentTarget), 'description').trim();
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
    <form onSubmit={submit} className="grid gap-5" noValidate={false}>
      {isPlaced ? null : <ProblemNote error={create.error} />}
      <UrlField value={url} onChange={change(setUrl)} error={about.url} />
      <Choice
        label="About"
        value={scope}
        onChange={(event) => {
          setScope(event.target.value === 'mailbox' ? 'mailbox' : 'organization');
          create.reset();
        }}
        hint={scope === 'organization' ? 'Every mailbox there is and every one to come.' : undefined}
      >
        <option value="organization">The whole organization</option>
        <option value="mailbox">One mailbox</option>
      </Choice>
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
      <Button type="submit" look="primary" className="justify-self-end" busy={create.isPending}>
        Add webhook
      </Button>
    </form>
  );
}
