import { type FormEvent, useState } from 'react';
import { Problem } from '../../../api/client.ts';
import { Choice, Field } from '../../../components/forms/field.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { DeliveryOptionFields, type DeliveryOptions } from '../form/delivery-options.tsx';
import { EventPicker } from '../form/event-picker.tsx';
import { type AuthHeader, HeaderFields } from '../form/header-fields.tsx';
import { UrlField } from '../form/url-field.tsx';
import { type EventType, useChangeWebhook, type Webhook, type WebhookChanges } from '../queries.ts';

type HeaderChoice = 'keep' | 'set' | 'remove';

/** Changes of an endpoint. What was not touched is not sent. */
export function EditWebhook({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const change = useChangeWebhook(webhook.id);
  const [url, setUrl] = useState(webhook.url);
  const [chosen, setChosen] = useState<EventType[]>(webhook.eventTypes);
  const [description, setDescription] = useState(webhook.description ?? '');
  const [headerChoice, setHeaderChoice] = useState<HeaderChoice>('keep');
  const [header, setHeader] = useState<AuthHeader>({ name: webhook.authHeaderName ?? '', value: '' });
  const [options, setOptions] = useState<DeliveryOptions>(webhook);
  const problem = change.error instanceof Problem ? change.error : undefined;
  const about = {
    url: problem?.about('/url'),
    events: problem?.details.find(({ path }) => path.startsWith('/eventTypes'))?.message,
    header: problem?.about('/authHeader'),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const changes: WebhookChanges = {
      ...(url.trim() === webhook.url ? {} : { url: url.trim() }),
      ...(chosen.toSorted().join() === webhook.eventTypes.toSorted().join() ? {} : { eventTypes: chosen }),
      ...(description.trim() === (webhook.description ?? '') ? {} : { description: description.trim() || null }),
      ...(headerChoice === 'set' ? { authHeader: header } : {}),
      ...(options.publicKeySignature === webhook.publicKeySignature
        ? {}
        : { publicKeySignature: options.publicKeySignature }),
      ...(options.includeExtracts === webhook.includeExtracts ? {} : { includeExtracts: options.includeExtracts }),
      ...(headerChoice === 'remove' ? { authHeader: null } : {}),
    };
    if (Object.keys(changes).length === 0) onClose();
    else change.mutate(changes, { onSuccess: onClose });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Edit the webhook"
      description="The next attempt of every delivery uses the new values."
    >
      <form onSubmit={submit} className="grid gap-5">
        {Object.values(about).some((each) => each !== undefined) ? null : <ProblemNote error={change.error} />}
        <UrlField value={url} onChange={setUrl} error={about.url} known={webhook.url} />
        <EventPicker
          chosen={chosen}
          onChange={setChosen}
          mailboxScope={webhook.mailboxId !== null}
          error={about.events}
        />
        <Field
          label="Description"
          autoComplete="off"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <Choice
          label="Header"
          value={headerChoice}
          onChange={(event) => setHeaderChoice(CHOICES.find((each) => each === event.target.value) ?? 'keep')}
        >
          <option value="keep">
            {webhook.authHeaderName === null ? 'Send none' : `Keep ${webhook.authHeaderName}`}
          </option>
          <option value="set">{webhook.authHeaderName === null ? 'Send one' : 'Replace it'}</option>
          {webhook.authHeaderName === null ? null : <option value="remove">Remove it</option>}
        </Choice>
        {headerChoice === 'set' ? <HeaderFields header={header} onChange={setHeader} error={about.header} /> : null}
        <DeliveryOptionFields options={options} onChange={setOptions} />
        <Button type="submit" look="primary" className="justify-self-end" busy={change.isPending}>
          Save
        </Button>
      </form>
    </Dialog>
  );
}

const CHOICES: readonly HeaderChoice[] = ['keep', 'set', 'remove'];
