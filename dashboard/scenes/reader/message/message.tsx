import { useQuery } from '@tanstack/react-query';
import {
  Archive,
  ArrowLeft,
  Bot,
  Code,
  Flag,
  FlagOff,
  Forward,
  type LucideIcon,
  Mail,
  MailOpen,
  Plus,
  Reply,
  ReplyAll,
  ShieldAlert,
  ShieldCheck,
  ShieldQuestion,
  Trash2,
  X,
} from 'lucide-react';
import { lazy, type Ref, Suspense, useState } from 'react';
import { Form, optionsOf, type Typed } from '../../../components/forms/form.tsx';
import { Button, type ButtonProps } from '../../../components/frame/button.tsx';
import { Failure, ProblemNote, Skeleton } from '../../../components/frame/page.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import { focusWhenShown } from '../list/keys.tsx';
import { type Folder, loadAttachment, type Message, messageQuery, useChangeMessage } from '../queries.ts';
import { Body, Conversation } from './conversation.tsx';
import { verdictOf } from './verdict.ts';

// What few messages have, or few readers ask for.
const Attachments = lazy(async () => ({
  default: (await import('../../../components/mail/attachments.tsx')).Attachments,
}));
const Signals = lazy(async () => ({ default: (await import('../../../components/mail/signals.tsx')).Signals }));
const AgentView = lazy(async () => ({ default: (await import('./agent-view.tsx')).AgentView }));
const Source = lazy(async () => ({ default: (await import('./source.tsx')).Source }));

/** What a person does with the open message. */
export interface MessageActions {
  reply(message: Message, all: boolean): void;
  forward(message: Message): void;
  edit(message: Message): void;
  archive(message: Message): void;
  remove(message: Message): void;
  move(message: Message, folder: string): void;
  setSeen(message: Message, seen: boolean): void;
  setFlagged(message: Message, flagged: boolean): void;
  showLabel(label: string): void;
  compose(address: string): void;
  open(messageId: string): void;
  back(): void;
}

interface MessagePaneProps {
  readonly mailboxId: string;
  readonly messageId: string;
  readonly folders: readonly Folder[];
  readonly actions: MessageActions;
  /** An action is running. */
  readonly busy: boolean;
  /** Takes the focus when the person wants to read. */
  readonly headRef: Ref<HTMLHeadingElement>;
}

export function MessagePane({ mailboxId, messageId, folders, actions, busy, headRef }: MessagePaneProps) {
  const found = useQuery(messageQuery(mailboxId, messageId));
  const message = found.data;
  return (
    <article aria-label="Message" aria-busy={found.isPending} className="grid min-w-0 content-start gap-4">
      {message === undefined ? (
        <Button look="quiet" className="justify-self-start sm:hidden" onClick={() => actions.back()}>
          <ArrowLeft size={16} aria-hidden /> Back to the list
        </Button>
      ) : null}
      {found.isError && message === undefined ? <Failure query={found} /> : null}
      {message === undefined ? null : (
        <Opened key={message.id} message={message} folders={folders} actions={actions} busy={busy} headRef={headRef} />
      )}
    </article>
  );
}

interface OpenedProps extends Pick<MessagePaneProps, 'folders' | 'actions' | 'busy' | 'headRef'> {
  readonly message: Message;
}

function Opened({ message, folders, actions, busy, headRef }: OpenedProps) {
  const [source, setSource] = useState(false);
  const [agent, setAgent] = useState(false);
  return (
    <>
      <Toolbar
        message={message}
        folders={folders}
        actions={actions}
        busy={busy}
        agent={agent}
        onAgent={() => setAgent(!agent)}
        onSource={() => setSource(true)}
      />
      <h2 ref={headRef} tabIndex={-1} className="[overflow-wrap:anywhere] outline-none">
        <ForeignText text={message.subject === '' ? '(no subject)' : message.subject} />
      </h2>
      <div className={`grid min-w-0 gap-6 ${agent ? '2xl:grid-cols-[minmax(0,1fr)_320px]' : ''}`}>
        <Conversation message={message} onOpen={(id) => actions.open(id)}>
          <div className="grid min-w-0 gap-4">
            <Head message={message} />
            {message.signals === null || message.signals.length === 0 ? null : (
              <Suspense fallback={<Skeleton rows={message.signals.length} />}>
                <Signals signals={message.signals} />
              </Suspense>
            )}
            <Labels message={message} onShow={(label) => actions.showLabel(label)} />
            <Body message={message} onCompose={(address) => actions.compose(address)} />
            {message.attachments.length === 0 ? null : (
              <Suspense fallback={<Skeleton rows={message.attachments.length} />}>
                <Attachments
                  attachments={message.attachments}
                  load={(id) => loadAttachment(message.mailboxId, message.id, id)}
                />
              </Suspense>
            )}
          </div>
        </Conversation>
        {agent ? (
          <Suspense fallback={<Skeleton />}>
            <AgentView message={message} />
          </Suspense>
        ) : null}
      </div>
      {source ? (
        <Suspense>
          <Source message={message} onClose={() => setSource(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

interface ToolbarProps extends Omit<OpenedProps, 'headRef'> {
  readonly agent: boolean;
  readonly onAgent: () => void;
  readonly onSource: () => void;
}

function Toolbar({ message, folders, actions, busy, agent, onAgent, onSource }: ToolbarProps) {
  const here = new Set(message.folders.map((name) => name.toLowerCase()));
  const isIn = (role: Folder['role']) =>
    folders.some((each) => each.role === role && here.has(each.name.toLowerCase()));
  return (
    <div role="toolbar" aria-label="Message actions" className="flex flex-wrap items-center gap-1">
      <Button look="quiet" aria-label="Back to the list" className="sm:hidden" onClick={() => actions.back()}>
        <ArrowLeft size={16} aria-hidden />
      </Button>
      {message.draft ? (
        <Button look="primary" busy={busy} onClick={() => actions.edit(message)}>
          Edit draft
        </Button>
      ) : (
        <>
          <Button onClick={() => actions.reply(message, false)} busy={busy}>
            <Reply size={16} aria-hidden /> <span className="max-sm:sr-only">Reply</span>
          </Button>
          <Button onClick={() => actions.reply(message, true)} busy={busy}>
            <ReplyAll size={16} aria-hidden /> <span className="max-sm:sr-only">Reply all</span>
          </Button>
          <Button onClick={() => actions.forward(message)} busy={busy}>
            <Forward size={16} aria-hidden /> <span className="max-sm:sr-only">Forward</span>
          </Button>
        </>
      )}
      {isIn('archive') ? null : (
        <Tool label="Archive" Icon={Archive} busy={busy} onClick={() => actions.archive(message)} />
      )}
      <Tool
        label={isIn('trash') ? 'Delete for good' : 'Delete'}
        Icon={Trash2}
        busy={busy}
        onClick={() => actions.remove(message)}
      />
      <Tool
        label={message.seen ? 'Mark as unread' : 'Mark as read'}
        Icon={message.seen ? Mail : MailOpen}
        onClick={() => actions.setSeen(message, !message.seen)}
      />
      <Tool
        label={message.flagged ? 'Remove the flag' : 'Flag'}
        Icon={message.flagged ? FlagOff : Flag}
        onClick={() => actions.setFlagged(message, !message.flagged)}
      />
      <select
        aria-label="Move to"
        value=""
        disabled={busy}
        onChange={({ target }) => actions.move(message, target.value)}
        className="h-8 w-24 rounded-md border border-line-strong bg-panel px-2 max-sm:h-11 max-sm:text-base"
      >
        <option value="" disabled hidden>
          Move to
        </option>
        {optionsOf(
          folders
            .filter(({ name }) => !here.has(name.toLowerCase()))
            .map(({ name }) => [name, visibleText(name)] as const),
        )}
      </select>
      <Tool label="Source" Icon={Code} onClick={onSource} />
      <Button look={agent ? 'plain' : 'quiet'} aria-pressed={agent} onClick={onAgent}>
        <Bot size={16} aria-hidden /> <span className="max-sm:sr-only">What the agent saw</span>
      </Button>
    </div>
  );
}

interface ToolProps extends ButtonProps {
  readonly label: string;
  readonly Icon: LucideIcon;
}

const Tool = ({ label, Icon, ...rest }: ToolProps) => (
  <Button look="quiet" aria-label={label} title={label} {...rest}>
    <Icon size={16} aria-hidden />
  </Button>
);

const SHIELDS = {
  ok: ShieldCheck,
  stop: ShieldAlert,
  wait: ShieldQuestion,
  info: ShieldQuestion,
  none: ShieldQuestion,
} as const;
const COLOURS = { ok: 'text-ok', stop: 'text-stop', wait: 'text-wait', info: 'text-info', none: 'text-muted' } as const;

/** Who wrote, to whom, when, and whether that is true. */
function Head({ message }: { readonly message: Message }) {
  const verdict = verdictOf(message);
  const Shield = SHIELDS[verdict.meaning];
  const people = [
    ['To', message.to],
    ['Cc', message.cc],
    ['Bcc', message.bcc],
    ['Reply to', message.replyTo],
  ] as const;
  return (
    <header className="grid min-w-0 gap-1 border-b border-line pb-3">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">
          <ForeignText text={message.from ?? '(no sender)'} max={400} />
        </span>
        <span className="text-muted">
          <Time value={message.receivedAt} />
        </span>
      </div>
      {people.map(([title, addresses]) =>
        addresses.length === 0 ? null : (
          <p key={title} className="[overflow-wrap:anywhere] text-muted">
            {title}: <ForeignText text={addresses.slice(0, 20).join(', ')} max={2_000} />
            {addresses.length > 20 ? ` and ${addresses.length - 20} more` : ''}
          </p>
        ),
      )}
      <details className="mt-1">
        <summary className={`flex cursor-pointer items-center gap-1.5 ${COLOURS[verdict.meaning]}`}>
          <Shield size={16} aria-hidden className="shrink-0" />
          <span className="[overflow-wrap:anywhere]">
            <ForeignText text={verdict.words} />
          </span>
        </summary>
        {verdict.details.length === 0 ? null : (
          <ul className="mt-1 ml-6 text-muted">
            {verdict.details.map((line) => (
              <li key={line} className="[overflow-wrap:anywhere]">
                <ForeignText text={line} />
              </li>
            ))}
          </ul>
        )}
      </details>
    </header>
  );
}

/** The labels of a message: each leads to all mail with it, and can be taken away. */
function Labels({ message, onShow }: { readonly message: Message; readonly onShow: (label: string) => void }) {
  const change = useChangeMessage(message.mailboxId);
  const [adding, setAdding] = useState(false);
  const save = (labels: readonly string[]) => change.mutate({ mid: message.id, change: { labels: [...labels] } });

  function add(typed: Typed): void {
    const label = typed('label').trim();
    setAdding(false);
    if (label !== '') save([...message.labels, label]);
  }

  return (
    <div className="grid gap-2">
      <ul aria-label="Labels" className="flex flex-wrap items-center gap-1">
        {message.labels.map((label) => (
          <li key={label} className="flex max-w-full min-w-0 items-center rounded bg-sunken text-xs">
            <button
              type="button"
              onClick={() => onShow(label)}
              className="h-6 min-w-0 truncate rounded-l px-2 hover:underline max-sm:h-9"
            >
              <ForeignText text={label} />
            </button>
            <button
              type="button"
              aria-label="Remove label"
              disabled={change.isPending}
              onClick={() => save(message.labels.filter((each) => each !== label))}
              className="grid h-6 w-6 place-items-center rounded-r text-muted hover:text-text max-sm:h-9 max-sm:w-9"
            >
              <X size={12} aria-hidden />
            </button>
          </li>
        ))}
        <li>
          {adding ? (
            <Form onSubmit={add} className="">
              <input
                name="label"
                aria-label="New label"
                ref={focusWhenShown}
                maxLength={64}
                onBlur={() => setAdding(false)}
                onKeyDown={({ key }) => {
                  if (key === 'Escape') setAdding(false);
                }}
                className="h-6 w-32 rounded border border-line-strong bg-panel px-2 text-xs max-sm:h-9 max-sm:text-base"
              />
            </Form>
          ) : (
            <button
              type="button"
              onClick={() => setAdding(true)}
              className="inline-flex h-6 items-center gap-1 rounded px-1.5 text-xs text-muted hover:bg-sunken hover:text-text max-sm:h-9"
            >
              <Plus size={12} aria-hidden /> Label
            </button>
          )}
        </li>
      </ul>
      <ProblemNote error={change.error} />
    </div>
  );
}
