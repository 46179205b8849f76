import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Choice } from '../../../components/forms/field.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Secret } from '../../../components/shown/secret.tsx';
import { Time } from '../../../components/shown/time.tsx';
import {
  type EventType,
  useChangeWebhook,
  useDeleteWebhook,
  useRotateSecret,
  useTestWebhook,
  type Webhook,
} from '../queries.ts';
import { EditWebhook } from './edit-webhook.tsx';

type Question = 'test' | 'edit' | 'rotate' | 'deactivate' | 'delete';

const DAY_MS = 86_400_000;

export interface WebhookActionsProps {
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.mutate(type, {
      onSuccess: ({ id }) =>
        void navigate({ to: '/webhooks/$id/deliveries/$did', params: { id: webhook.id, did: id } }),
    });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Send a test event"
      description="An example, signed and tried again like any other delivery. Its data says test: true."
    >
      <form onSubmit={submit} className="grid gap-4">
        <ProblemNote error={test.error} />
        <Choice
          label="Event"
          value={type}
          onChange={(event) =>
            setType(webhook.eventTypes.find((each) => each === event.target.value) ?? 'email_received')
          }
        >
          {webhook.eventTypes.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </Choice>
        <Button type="submit" look="primary" className="justify-self-end" busy={test.isPending}>
          Send
        </Button>
      </form>
    </Dialog>
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
      <Dialog open onClose={onClose} keep title="The new secret">
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
        <Button look="primary" className="justify-self-end" onClick={onClose}>
          Done
        </Button>
      </Dialog>
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rotate the signing secret?"
      description="A new secret signs at once. While both sign, a server with either of them accepts the requests."
    >
      <ProblemNote error={rotate.error} />
      <Choice
        label="The old secret signs too"
        value={overlap}
        onChange={(event) => setOverlap(Number(event.target.value))}
        hint={
          overlap === 0
            ? 'Your server refuses every delivery until it has the new secret.'
            : 'An earlier secret whose time still runs ends now.'
        }
      >
        {OVERLAPS.map(([seconds, title]) => (
          <option key={seconds} value={seconds}>
            {title}
          </option>
        ))}
      </Choice>
      <Button
        look="primary"
        className="justify-self-end"
        busy={rotate.isPending}
        onClick={() => rotate.mutate(overlap)}
      >
        Rotate secret
      </Button>
    </Dialog>
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
    <Dialog
      open
      onClose={onClose}
      title="Set the webhook inactive?"
      description={`${waitingOf(webhook)} Events that happen meanwhile are not recorded for it. You can set it active at any time.`}
    >
      <ProblemNote error={change.error} />
      <Button
        look="stop"
        className="justify-self-end"
        busy={change.isPending}
        onClick={() => change.mutate({ active: false }, { onSuccess: onClose })}
      >
        Set inactive
      </Button>
    </Dialog>
  );
}

function Delete({ webhook, onClose }: Asked) {
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delete the webhook?"
      description={`${webhook.url} gets nothing any more. ${waitingOf(webhook)} Its secret and its history of deliveries can no longer be read.`}
    >
      <ProblemNote error={remove.error} />
      <Button
        look="stop"
        className="justify-self-end"
        busy={remove.isPending}
        onClick={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/webhooks' }) })}
      >
        Delete the webhook
      </Button>
    </Dialog>
  );
}
