import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Choice, Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField, Problem } from '../../problem.ts';
import {
  type ApprovalMail,
  type ChatForm,
  type NoticeSettings,
  noticeSettingsQuery,
  useChangeNoticeSettings,
  useTestChat,
} from './queries.ts';

const MODES: readonly (readonly [ApprovalMail, string, string])[] = [
  ['at_once', 'At once', 'The first held message at once; further ones within minutes as one mail.'],
  ['hourly', 'Every hour', 'One mail an hour, when something waits.'],
  ['none', 'No mail', 'You check the Approvals page yourself.'],
];

const FORMS: readonly (readonly [ChatForm, string])[] = [
  ['slack', 'Slack'],
  ['teams', 'Teams'],
];

const URL_CODES = new Set(['invalid_url', 'unresolvable_destination', 'unsafe_destination']);

/** How the person is notified of messages that wait for a decision. */
export function MySettings() {
  const settings = useQuery(noticeSettingsQuery);
  return (
    <section aria-labelledby="my-notices" className="grid max-w-2xl gap-4 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="my-notices">When a message waits for approval</h2>
        <p className="text-muted">Only for you, in this organization.</p>
      </div>
      {settings.isPending ? <Skeleton rows={3} /> : null}
      {settings.isError ? <ProblemNote error={settings.error} onRetry={() => void settings.refetch()} /> : null}
      {settings.data === undefined ? null : (
        <>
          <Mail settings={settings.data} />
          <Chat settings={settings.data} />
        </>
      )}
    </section>
  );
}

function Mail({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const shown = change.isPending ? change.variables.approvals : settings.approvals;
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">Mail to you</legend>
      <ProblemNote error={change.error} />
      {MODES.map(([mode, title, sentence]) => (
        <label key={mode} className="flex items-start gap-2 max-sm:py-1">
          <input
            type="radio"
            name="approvals"
            checked={shown === mode}
            disabled={change.isPending}
            onChange={() => change.mutate({ approvals: mode })}
            className="mt-0.5 size-4 accent-(--accent)"
          />
          <span>
            <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Chat({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const test = useTestChat();
  const { chat, approvals } = settings;
  if (chat === null) return <AddChat approvals={approvals} />;
  return (
    <section aria-labelledby="chat" className="grid gap-2">
      <h3 id="chat" className="font-medium">
        Message in {FORMS.find(([form]) => form === chat.form)?.[1] ?? chat.form}
      </h3>
      <ProblemNote error={change.error ?? test.error} />
      <p className="break-words">
        To the webhook at <span className="font-medium">{chat.host}</span>. Its whole address is a secret and is not
        shown again.
      </p>
      <div aria-live="polite">
        {chat.last === null ? null : (
          <p>
            <Badge meaning={chat.last.state === 'sent' ? 'ok' : chat.last.state === 'waiting' ? 'wait' : 'stop'}>
              {chat.last.state === 'sent' ? 'Arrived' : chat.last.state === 'waiting' ? 'On its way' : 'Failed'}
            </Badge>{' '}
            <span className="text-muted">
              {chat.last.reply ?? 'the last message'} <Time value={chat.last.at} />
            </span>
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button busy={test.isPending} onClick={() => test.mutate(undefined)}>
          Send a test message
        </Button>
        <Button look="stop" busy={change.isPending} onClick={() => change.mutate({ approvals, chat: null })}>
          Remove
        </Button>
      </div>
    </section>
  );
}

function AddChat({ approvals }: { readonly approvals: ApprovalMail }) {
  const change = useChangeNoticeSettings();
  const [form, setForm] = useState<ChatForm>('slack');
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const url = textOfField(new FormData(event.currentTarget), 'url').trim();
    change.mutate({ approvals, chat: { form, url } });
  };
  const { error } = change;
  const about =
    aboutField(error, '/chat/url') ??
    aboutField(error, '/url') ??
    (error instanceof Problem && URL_CODES.has(error.code) ? error.message : undefined);
  return (
    <form aria-label="Message in a chat" onSubmit={submit} className="grid gap-3">
      <h3 className="font-medium">Message in a chat</h3>
      {about === undefined ? <ProblemNote error={error} /> : null}
      <div className="grid items-start gap-3 sm:grid-cols-[130px_minmax(0,1fr)_auto]">
        <Choice
          label="Chat"
          value={form}
          onChange={(event) => setForm(FORMS.find(([each]) => each === event.target.value)?.[0] ?? 'slack')}
        >
          {FORMS.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </Choice>
        <Field
          label="Address of the incoming webhook"
          name="url"
          type="url"
          required
          autoComplete="off"
          placeholder="https://"
          error={about}
        />
        <Button type="submit" className="sm:mt-6 sm:h-9" busy={change.isPending}>
          Add
        </Button>
      </div>
    </form>
  );
}
