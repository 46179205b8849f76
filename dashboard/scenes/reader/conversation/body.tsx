import { useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { MailHtml } from '../../../components/mail/mail-html.tsx';
import { loadRemotePicture, type Message } from '../queries.ts';
import { loadPicture } from './load-picture.ts';

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

export function Text({ text }: { readonly text: string }) {
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
