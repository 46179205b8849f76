import { Link } from '@tanstack/react-router';
import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import type { ConsentMessage } from '../queries.ts';

interface CarriedProps {
  readonly sources: ConsentMessage['carried'];
  /** A reader with a session can go on from here. */
  readonly links: boolean;
}

const QUOTE = 'min-w-0 border-l-2 pl-3 break-words whitespace-pre-wrap wrap-anywhere';

/** What the message says beside the other mail that says it. */
export function Carried({ sources, links }: CarriedProps) {
  return (
    <section aria-label="Other mail in this message" className="grid gap-3 rounded-md bg-wait-soft px-3 py-2">
      {sources.map(({ messageId, mailboxId, from, subject, date, count, passages }) => {
        const title = <bdi className="font-medium">{visibleText(subject) || '(no subject)'}</bdi>;
        return (
          <div key={messageId} className="grid min-w-0 gap-2">
            <h3 className="font-normal wrap-anywhere">
              {count === 1 ? 'One passage' : `${count.toLocaleString()} passages`} from{' '}
              {links ? (
                <Link to="/mailboxes/$id/mail" params={{ id: mailboxId }} search={{ open: messageId }}>
                  {title}
                </Link>
              ) : (
                title
              )}
              , {visibleText(from ?? 'nobody')}, <Time value={date} />
            </h3>
            <ul className="grid gap-2">
              {passages.map(({ sent, source }, i) => (
                <li key={i} className="grid gap-x-3 gap-y-1 sm:grid-cols-2">
                  <p className={`${QUOTE} border-wait`}>
                    <span className="block text-xs text-muted">This message</span>
                    {visibleText(sent)}
                  </p>
                  <p className={`${QUOTE} border-line-strong`}>
                    <span className="block text-xs text-muted">The other mail</span>
                    {visibleText(source)}
                  </p>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </section>
  );
}
