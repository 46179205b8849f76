import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../../../components/forms/confirm.tsx';
import { Choice, Field, Form, type Options, Submit } from '../../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../../components/forms/secret-dialog.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { Time } from '../../../components/shown/time.tsx';
import {
  type EventType,
  useChangeWebhook,
  useDeleteWebhook,
  useRotateSecret,
  useTestWebhook,
  type Webhook,
  type WebhookChanges,
} from '../queries.ts';
import {
  type AuthHeader,
  DeliveryOptionFields,
  type DeliveryOptions,
  EventPicker,
  HeaderFields,
  UrlField,
  webhookProblems,
} from '../webhook-form.tsx';

type Question = 'test' | 'edit' | 'rotate' | 'deactivate' | 'delete';

const DAY_MS = 86_400_000;

interface WebhookActionsProps {
  readonly webhook: Webhook;
  /** Asks whether what was given up since then is to be sent again. */
  readonly onRecover: (since: string) => void;
}

/** What can be done to an endpoint; each action names its consequence before it is done. */
export function WebhookActions({ webhook, onRecover }: WebhookActionsProps) {
  const [question, setQuestion] = useState<Question>();
  const asked = { webhook, onClose: () => setQuestion(undefined) };
  return (
    <>
      {webhook.active ? (
        <>
          <Button look="primary" onClick={() => setQuestion('test')}>
            Send test event
          </Button>
          <Button onClick={() => onRecover(new Date(Date.now() - DAY_MS).toISOString())}>Recover</Button>
        </>
      ) : null}
      <Button onClick={() => setQuestion('edit')}>Edit</Button>
      <Button onClick={() => setQuestion('rotate')}>Rotate secret</Button>
      {webhook.active ? <Button onClick={() => setQuestion('deactivate')}>Set inactive</Button> : null}
      <Button look="stop" onClick={() => setQuestion('delete')}>
        Delete
      </Button>
      {question === 'test' ? <SendTest {...asked} /> : null}
      {question === 'edit' ? <EditWebhook {...asked} /> : null}
      {question === 'rotate' ? <Rotate {...asked} /> : null}
      {question === 'deactivate' ? <Deactivate {...asked} /> : null}
      {question === 'delete' ? <Delete {...asked} /> : null}
    </>
  );
}

interface Asked {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

function SendTest({ webhook, onClose }: Asked) {
  const test = useTestWebhook(webhook.id);
  const navigate = useNavigate();
  const [type, setType] = useState<EventType>(webhook.eventTypes[0] ?? 'email_received');
  return (
    <Confirm
      title="Send a test event"
      consequence="An example, signed and tried again like any other delivery. Its data says test: true."
      action="Send"
      look="primary"
      cancel={false}
      change={test}
      onConfirm={() =>
        test.mutate(type, {
          onSuccess: ({ id }) =>
            void navigate({ to: '/webhooks/$id/deliveries/$did', params: { id: webhook.id, did: id } }),
        })
      }
      onClose={onClose}
    >
      <Choice label="Event" value={type} options={webhook.eventTypes.map((each) => [each, each])} onChoose={setType} />
    </Confirm>
  );
}

const OVERLAPS = [
  [3_600, 'for one hour'],
  [86_400, 'for a day'],
  [0, 'not at all'],
] as const;

function Rotate({ webhook, onClose }: Asked) {
  const rotate = useRotateSecret(webhook.id);
  const [overlap, setOverlap] = useState<number>(OVERLAPS[0][0]);
  if (rotate.data !== undefined)
    return (
      <Dialog onClose={onClose} keep title="The new secret">
        {rotate.data.secret === null ? null : (
          <Secret
            label="Signing secret"
            value={rotate.data.secret}
            note="It is shown this once. Give it to your server, which verifies the signatures with it."
          />
        )}
        <p className="text-muted">
          {rotate.data.previousSecretExpiresAt === null ? (
            'The old secret signs nothing any more.'
          ) : (
            <>
              The old secret signs too, until it ends <Time value={rotate.data.previousSecretExpiresAt} />.
            </>
          )}
        </p>
        <DoneButton onClick={onClose} />
      </Dialog>
    );
  return (
    <Confirm
      title="Rotate the signing secret?"
      consequence="A new secret signs at once. While both sign, a server with either of them accepts the requests."
      action="Rotate secret"
      look="primary"
      cancel={false}
      change={rotate}
      onConfirm={() => rotate.mutate(overlap)}
      onClose={onClose}
    >
      <Choice
        label="The old secret signs too"
        value={overlap}
        options={OVERLAPS}
        onChoose={setOverlap}
        hint={
          overlap === 0
            ? 'Your server refuses every delivery until it has the new secret.'
            : 'An earlier secret whose time still runs ends now.'
        }
      />
    </Confirm>
  );
}

/** Deliveries that an end of the endpoint gives up. */
function waitingOf({ stats }: Webhook): string {
  const waiting = stats.last24h.pending + stats.last24h.failed;
  if (waiting === 0) return 'Nothing waits at the moment.';
  return waiting === 1
    ? 'One waiting delivery is given up.'
    : `${waiting.toLocaleString()} waiting deliveries are given up.`;
}

function Deactivate({ webhook, onClose }: Asked) {
  const change = useChangeWebhook(webhook.id);
  return (
    <Confirm
      title="Set the webhook inactive?"
      consequence={`${waitingOf(webhook)} Events that happen meanwhile are not recorded for it. You can set it active at any time.`}
      action="Set inactive"
      cancel={false}
      change={change}
      onConfirm={() => change.mutate({ active: false }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function Delete({ webhook, onClose }: Asked) {
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  return (
    <Confirm
      title="Delete the webhook?"
      consequence={`${webhook.url} gets nothing any more. ${waitingOf(webhook)} Its secret and its history of deliveries can no longer be read.`}
      action="Delete the webhook"
      cancel={false}
      change={remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/webhooks' }) })}
      onClose={onClose}
    />
  );
}

type HeaderChoice = 'keep' | 'set' | 'remove';

/** Changes of an endpoint. What was not touched is not sent. */
function EditWebhook({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const change = useChangeWebhook(webhook.id);
  const [url, setUrl] = useState(webhook.url);
  const [chosen, setChosen] = useState<EventType[]>(webhook.eventTypes);
  const [description, setDescription] = useState(webhook.description ?? '');
  const [headerChoice, setHeaderChoice] = useState<HeaderChoice>('keep');
  const [header, setHeader] = useState<AuthHeader>({ name: webhook.authHeaderName ?? '', value: '' });
  const [options, setOptions] = useState<DeliveryOptions>(webhook);
  const about = webhookProblems(change.error);
  const submit = () => {
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
      onClose={onClose}
      title="Edit the webhook"
      description="The next attempt of every delivery uses the new values."
    >
      <Form onSubmit={submit} className="grid gap-5">
        <ProblemNote error={about.other} />
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
          options={headerChoicesOf(webhook.authHeaderName)}
          onChoose={setHeaderChoice}
        />
        {headerChoice === 'set' ? <HeaderFields header={header} onChange={setHeader} error={about.header} /> : null}
        <DeliveryOptionFields options={options} onChange={setOptions} />
        <Submit busy={change.isPending}>Save</Submit>
      </Form>
    </Dialog>
  );
}

const headerChoicesOf = (name: string | null): Options<HeaderChoice> =>
  name === null
    ? [
        ['keep', 'Send none'],
        ['set', 'Send one'],
      ]
    : [
        ['keep', `Keep ${name}`],
        ['set', 'Replace it'],
        ['remove', 'Remove it'],
      ];
