import { useQuery } from '@tanstack/react-query';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { type Tab, Tabs } from '../../../components/frame/tabs.tsx';
import { MailHtml } from '../../../components/mail/mail-html.tsx';
import { visibleText } from '../../../components/mail/visible-text.ts';
import type { ConsentMessage } from '../queries.ts';
import { TextAndHtml } from './text-and-html.tsx';

const TEXT = 'max-h-[60vh] overflow-auto py-1 leading-[22px] break-words whitespace-pre-wrap';

export interface ContentProps {
  readonly message: ConsentMessage;
  readonly loadAttachment: (attachmentId: string) => Promise<Blob>;
  /** The message byte for byte; left out where it cannot be read. */
  readonly loadRaw?: (() => Promise<string>) | undefined;
}

/** The message as its recipients see it, as text, and byte for byte. */
export function Content({ message, loadAttachment, loadRaw }: ContentProps) {
  const { html, attachments } = message;
  const text = message.text ?? message.textOfHtml ?? '';
  const loadPart = async (contentId: string): Promise<Blob | undefined> => {
    const part = attachments.find((each) => each.contentId?.replaceAll(/[<>]/g, '') === contentId);
    return part === undefined ? undefined : loadAttachment(part.id);
  };
  const asText: Tab = {
    id: 'text',
    title: 'Text',
    content:
      text.trim() === '' ? (
        <p className="text-muted">{html === null ? 'The message is empty.' : 'There are no words in it.'}</p>
      ) : (
        // Scrolls, so the keyboard must reach it.
        <p tabIndex={0} role="group" aria-label="Text of the message" className={TEXT}>
          {visibleText(text)}
        </p>
      ),
  };
  const tabs: Tab[] = [asText];
  // What most recipients see comes first.
  if (html !== null)
    tabs.unshift({
      id: 'html',
      title: 'As sent',
      content: (
        <div className="max-h-[60vh] overflow-auto rounded-md border border-line">
          <MailHtml html={html} text={text} title="The message as its recipients see it" loadPart={loadPart} />
        </div>
      ),
    });
  if (loadRaw !== undefined)
    tabs.push({ id: 'raw', title: 'Raw', content: <Raw id={message.consent.id} load={loadRaw} /> });
  return (
    <div className="px-4 pt-2 pb-3">
      <Tabs label="Views of the message" tabs={tabs} />
      {message.text === null && html !== null ? (
        <p className="mt-2 text-muted">The message has only HTML; this text was made from it.</p>
      ) : null}
      <TextAndHtml difference={message.textAndHtml} />
      {message.truncated ? <p className="mt-2 text-wait">It is longer than what is shown here.</p> : null}
    </div>
  );
}

function Raw({ id, load }: { readonly id: string; readonly load: () => Promise<string> }) {
  const raw = useQuery({ queryKey: ['consents', 'raw', id], queryFn: load, staleTime: Number.POSITIVE_INFINITY });
  if (raw.isError) return <ProblemNote error={raw.error} onRetry={() => void raw.refetch()} />;
  return (
    <pre
      tabIndex={0}
      aria-label="Raw message"
      aria-busy={raw.isPending}
      className="max-h-[60vh] min-h-16 overflow-auto rounded-md bg-sunken p-3 font-mono text-[13px] leading-5"
    >
      {raw.data === undefined ? '' : visibleText(raw.data)}
    </pre>
  );
}
