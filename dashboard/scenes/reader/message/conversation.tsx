import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { MailHtml, PICTURES } from '../../../components/mail/mail-html.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type Attachment, loadAttachment, loadRemotePicture, type Message, threadQuery } from '../queries.ts';
import { type Summary, shortName } from '../rows.ts';

const JUNK_LABELS = new Set(['unauthenticated', 'spam']);

interface ConversationProps {
  readonly message: Message;
  readonly onOpen: (messageId: string) => void;
  /** The open message. */
  readonly children: ReactNode;
}

/** The messages before and after the open one, a line each. Junk has no part in conversations. */
export function Conversation({ message, onOpen, children }: ConversationProps) {
  const isJunk = message.labels.some((label) => JUNK_LABELS.has(label.toLowerCase()));
  const thread = useQuery({ ...threadQuery(message.mailboxId, message.threadId), enabled: !isJunk });
  const messages = thread.data?.messages ?? [];
  const at = messages.findIndex(({ id }) => id === message.id);
  if (at === -1 || messages.length < 2) return children;
  return (
    <div className="grid min-w-0 content-start gap-4">
      <Others label="Before" messages={messages.slice(0, at)} onOpen={onOpen} />
      {children}
      <Others label="After" messages={messages.slice(at + 1)} onOpen={onOpen} />
    </div>
  );
}

interface OthersProps {
  readonly label: string;
  readonly messages: readonly Summary[];
  readonly onOpen: (messageId: string) => void;
}

function Others({ label, messages, onOpen }: OthersProps) {
  if (messages.length === 0) return null;
  return (
    <ul aria-label={`${label} this message`} className="overflow-hidden rounded-lg border border-line">
      {messages.map(({ id, from, preview, receivedAt, seen }) => (
        <li key={id} className="border-line not-first:border-t">
          <button
            type="button"
            onClick={() => onOpen(id)}
            className="flex h-10 w-full min-w-0 items-center gap-3 px-3 text-left -outline-offset-2 hover:bg-sunken max-sm:h-11"
          >
            <span className={`max-w-40 shrink-0 truncate ${seen ? '' : 'font-semibold'}`}>
              <ForeignText text={shortName(from ?? '(no sender)')} max={200} />
            </span>
            <span className="min-w-0 flex-1 truncate text-muted">
              <ForeignText text={preview} max={200} />
            </span>
            <span className="shrink-0 text-xs text-muted">
              <Time value={receivedAt} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Of a longer text the rest is shown when asked for: a browser is busy for seconds with a megabyte. */
const TEXT_MAX_CHARACTERS = 50_000;

interface BodyProps {
  readonly message: Message;
  readonly onCompose: (address: string) => void;
}

/** What a message says: its HTML where it has some, and its text. */
export function Body({ message, onCompose }: BodyProps) {
  const { html, truncated } = message;
  const text = message.text ?? '';
  const [asText, setAsText] = useState(false);

  async function loadPart(contentId: string): Promise<Blob | undefined> {
    const part = message.attachments.find((each) => each.contentId?.replace(/^<|>$/g, '') === contentId);
    return part === undefined ? undefined : loadPicture(message, part);
  }

  return (
    <div className="grid min-w-0 gap-3">
      {truncated ? (
        <p role="note" className="rounded-md bg-wait-soft px-3 py-2 text-wait">
          {message.textStatus === 'failed'
            ? 'The message could not be read within its limits. The source has all of it.'
            : 'The message is longer than what is shown. The source has all of it.'}
        </p>
      ) : null}
      {html === null || html.trim() === '' || asText ? (
        <Text text={text} />
      ) : (
        <MailHtml
          key={message.id}
          html={html}
          text={text}
          title="Content of the message"
          loadPart={loadPart}
          loadRemote={(url) => loadRemotePicture(message.mailboxId, message.id, url)}
          onCompose={onCompose}
        />
      )}
      {html === null ? null : (
        <div>
          <Button look="quiet" onClick={() => setAsText(!asText)}>
            {asText ? 'Show HTML' : 'Show text'}
          </Button>
        </div>
      )}
    </div>
  );
}

function Text({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false);
  if (text.trim() === '') return <p className="text-muted">This message has no text.</p>;
  const isCut = !whole && text.length > TEXT_MAX_CHARACTERS;
  return (
    <>
      <div dir="auto" className="max-w-[72ch] leading-[22px] [overflow-wrap:anywhere] whitespace-pre-wrap">
        <ForeignText text={text} long max={whole ? text.length : TEXT_MAX_CHARACTERS} />
      </div>
      {isCut ? (
        <div>
          <Button onClick={() => setWhole(true)}>Show all of it</Button>
        </div>
      ) : null}
    </>
  );
}

/** A part of a message as a picture; undefined when it is none that is shown. */
async function loadPicture(message: Message, attachment: Attachment): Promise<Blob | undefined> {
  const type = attachment.contentType.toLowerCase();
  if (!PICTURES.has(type)) return undefined;
  const bytes = await loadAttachment(message.mailboxId, message.id, attachment.id);
  return new Blob([bytes], { type });
}
