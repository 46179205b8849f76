import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import type { ConsentMessage } from '../queries.ts';

/** Whose mail the agent had read: it may have told the agent what to send. */
export function UnknownSenders({ senders }: { readonly senders: ConsentMessage['unknownSenders'] }) {
  return (
    <section aria-label="Read shortly before" className="grid gap-1 rounded-md bg-wait-soft px-3 py-2">
      <h3 className="font-normal">Read shortly before, from senders whom nobody released</h3>
      <ul className="grid gap-1">
        {senders.map(({ address, readAt }) => (
          <li key={address ?? ''} className="min-w-0 border-l-2 border-wait pl-3 wrap-anywhere">
            <bdi className="font-medium">{address === null ? '(no author)' : visibleText(address)}</bdi>,{' '}
            <Time value={readAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
