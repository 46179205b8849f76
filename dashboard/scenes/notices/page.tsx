import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMayManage } from '../../api/session.ts';
import { Choice, Field, Form } from '../../components/forms/form.tsx';
import { Tick } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField, Problem } from '../../problem.ts';
import { Hours } from './hours.tsx';
import {
  type ApprovalMail,
  type ChatForm,
  type Notice,
  type NoticeSettings,
  noticeSettingsQuery,
  noticesQuery,
  useChangeNoticeSettings,
  useTestChat,
} from './queries.ts';

const STATES: Readonly<Record<string, State>> = {
  waiting: ['wait', 'Waiting'],
  sent: ['ok', 'Sent'],
  captured: ['info', 'Kept here'],
  failed: ['stop', 'Failed'],
};

/** What the service writes to people. */
export function NoticesPage() {
  const mayManage = useMayManage();
  return (
    <>
      <PageHead title="Notices" />
      <div className="grid gap-8">
        <MySettings />
        {mayManage ? <SentNotices /> : null}
      </div>
    </>
  );
}

function SentNotices() {
  const list = useInfiniteQuery(noticesQuery);
  return (
    <Section
      title="Sent by the service"
      note="Mail to members and invited people, and messages to their chats. “Kept here” means that it was not sent to another host and can be read in this list."
    >
      <PagedList
        label="Notices"
        query={list}
        empty={
          <Empty title="No notices yet">
            <p>When a webhook fails for days, or a person is invited, the mail about it is listed here.</p>
          </Empty>
        }
      >
        {(notice) => <NoticeRow notice={notice} />}
      </PagedList>
    </Section>
  );
}

function NoticeRow({ notice }: { readonly notice: Notice }) {
  return (
    <details>
      <summary className="grid cursor-pointer items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_100px_110px]">
        <span className="min-w-0 truncate font-medium">
          <ForeignText text={notice.subject} />
        </span>
        <span className="min-w-0 truncate text-muted">{notice.recipient}</span>
        <span>
          <StateBadge of={STATES[notice.state]} word={notice.state} />
        </span>
        <span className="text-muted sm:text-right">
          <Time value={notice.createdAt} />
        </span>
      </summary>
      <div className="mt-3 grid gap-2">
        <p className="max-h-96 overflow-auto rounded-lg bg-sunken p-3 break-words whitespace-pre-wrap">{notice.text}</p>
        <p className="text-muted">
          {notice.attempts === 1 ? 'One attempt' : `${notice.attempts} attempts`}
          {notice.reply === null ? '' : `; the last answer was “${notice.reply}”`}
        </p>
      </div>
    </details>
  );
}

const MODES: readonly (readonly [ApprovalMail, string, string])[] = [
  ['at_once', 'At once', 'The first held message at once; further ones within minutes as one mail.'],
  ['hourly', 'Every hour', 'One mail an hour, when something waits.'],
  ['none', 'No mail', 'You check the Approvals page yourself.'],
];

const FORMS: readonly (readonly [ChatForm, string])[] = [
  ['slack', 'Slack'],
  ['teams', 'Teams'],
];

const CHAT_STATES: Readonly<Record<NonNullable<NonNullable<NoticeSettings['chat']>['last']>['state'], State>> = {
  sent: ['ok', 'Arrived'],
  waiting: ['wait', 'On its way'],
  captured: ['stop', 'Failed'],
  failed: ['stop', 'Failed'],
};

const URL_CODES = new Set(['invalid_url', 'unresolvable_destination', 'unsafe_destination']);

/** How the person is notified of messages that wait for a decision. */
function MySettings() {
  const settings = useQuery(noticeSettingsQuery);
  return (
    <Section
      title="When a message waits for a decision"
      note="Only for you, in this organization."
      className="grid max-w-2xl gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <Loaded query={settings} rows={3}>
        {(data) => (
          <>
            <Mail settings={data} />
            <Incoming settings={data} />
            <Chat settings={data} />
            <Hours settings={data} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

interface RadiosProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly options: readonly (readonly [value: Value, title: string, sentence: string])[];
  readonly value: Value;
  readonly busy: boolean;
  readonly error: unknown;
  /** `done` is called when the service has answered. */
  readonly onChoose: (value: Value, done: () => void) => void;
}

/** A choice of one, with a sentence on each. What was chosen is shown at once. */
function Radios<Value extends string>({ legend, name, options, value, busy, error, onChoose }: RadiosProps<Value>) {
  const [chosen, setChosen] = useState<Value>();
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">{legend}</legend>
      <ProblemNote error={error} />
      {options.map(([option, title, sentence]) => (
        <Tick
          key={option}
          type="radio"
          name={name}
          checked={(chosen ?? value) === option}
          disabled={busy}
          onChange={() => {
            setChosen(option);
            onChoose(option, () => setChosen(undefined));
          }}
        >
          <span className="font-medium">{title}</span> <span className="block text-muted">{sentence}</span>
        </Tick>
      ))}
    </fieldset>
  );
}

function Mail({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  return (
    <Radios
      legend="Mail to you about messages to approve"
      name="approvals"
      options={MODES}
      value={settings.approvals}
      busy={change.isPending}
      error={change.error}
      onChoose={(approvals, done) => change.mutate({ approvals }, { onSettled: done })}
    />
  );
}

const INCOMING: readonly (readonly [NoticeSettings['incoming'], string, string])[] = [
  ['at_once', 'At once', 'All of the last minutes as one mail, some times a day at most.'],
  ['digest', 'In the digest', 'One mail a day while some waits.'],
  ['none', 'No mail', 'You check the Held mail page yourself.'],
];

function Incoming({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const { approvals } = settings;
  return (
    <Radios
      legend="Mail to you about held incoming mail"
      name="incoming"
      options={INCOMING}
      value={settings.incoming}
      busy={change.isPending}
      error={change.error}
      onChoose={(incoming, done) => change.mutate({ approvals, incoming }, { onSettled: done })}
    />
  );
}

function Chat({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const test = useTestChat();
  const { chat, approvals } = settings;
  if (chat === null) return <AddChat approvals={approvals} />;
  return (
    <Section
      level={3}
      title={`Message in ${FORMS.find(([form]) => form === chat.form)?.[1] ?? chat.form}`}
      className="grid gap-2"
    >
      <ProblemNote error={change.error ?? test.error} />
      <p className="break-words">
        To the webhook at <span className="font-medium">{chat.host}</span>. Its whole address is a secret and is not
        shown again.
      </p>
      <div aria-live="polite">
        {chat.last === null ? null : (
          <p>
            <StateBadge of={CHAT_STATES[chat.last.state]} />{' '}
            <span className="text-muted">
              {chat.last.reply ?? 'the last message'} <Time value={chat.last.at} />
            </span>
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button busy={test.isPending} onClick={() => test.mutate()}>
          Send a test message
        </Button>
        <Button look="stop" busy={change.isPending} onClick={() => change.mutate({ approvals, chat: null })}>
          Remove
        </Button>
      </div>
    </Section>
  );
}

function AddChat({ approvals }: { readonly approvals: ApprovalMail }) {
  const change = useChangeNoticeSettings();
  const [form, setForm] = useState<ChatForm>('slack');
  const { error } = change;
  const about =
    aboutField(error, '/chat/url') ??
    aboutField(error, '/url') ??
    (error instanceof Problem && URL_CODES.has(error.code) ? error.message : undefined);
  return (
    <Form
      aria-label="Message in a chat"
      onSubmit={(typed) => change.mutate({ approvals, chat: { form, url: typed('url').trim() } })}
      className="grid gap-3"
    >
      <h3 className="font-medium">Message in a chat</h3>
      {about === undefined ? <ProblemNote error={error} /> : null}
      <div className="grid items-start gap-3 sm:grid-cols-[130px_minmax(0,1fr)_auto]">
        <Choice label="Chat" value={form} options={FORMS} onChoose={setForm} />
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
    </Form>
  );
}
