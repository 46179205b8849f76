import { asciiDomainOf } from '../../../components/forms/ascii-domain.ts';
import { visibleText } from '../../../components/mail/visible-text.ts';
import { Time } from '../../../components/shown/time.tsx';
import type { ConsentMessage } from '../queries.ts';

type Recipient = ConsentMessage['recipients'][number];

const FIELDS = [
  ['to', 'To'],
  ['cc', 'Cc'],
  ['bcc', 'Bcc'],
] as const;

/** Everybody who gets the message, each with what was written there before: rows of a list of facts. */
export function Recipients({ message }: { readonly message: ConsentMessage }) {
  return FIELDS.map(([field, title]) => {
    const recipients = message.recipients.filter(({ as }) => as === field);
    if (recipients.length === 0) return null;
    return (
      <div key={field} className="contents">
        <dt className="text-muted">{title}</dt>
        <dd className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          {recipients.map((recipient) => (
            <RecipientRow key={recipient.address} recipient={recipient} />
          ))}
        </dd>
      </div>
    );
  });
}

function RecipientRow({ recipient }: { readonly recipient: Recipient }) {
  const { address, toAddress, toDomain } = recipient;
  const newest = toAddress.count > 0 ? toAddress.newest : toDomain.newest;
  const words = history(recipient);
  const ascii = asciiDomainOf(address);
  return (
    <div className="min-w-0 wrap-anywhere">
      <bdi className="font-medium break-all">{visibleText(address)}</bdi>{' '}
      {ascii === undefined ? null : <span className="text-wait">({ascii}) </span>}
      {newest.length === 0 ? (
        <span className="text-muted">· {words}</span>
      ) : (
        <details className="inline-block max-w-full text-muted open:block">
          <summary className="cursor-default">· {words}</summary>
          <ul className="mt-1 grid gap-1 border-l-2 border-line pl-3">
            {newest.map(({ messageId, subject, sentAt }) => (
              <li key={messageId} className="truncate">
                <Time value={sentAt} />: <bdi>{visibleText(subject) || '(no subject)'}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** What was written to a recipient before, in a few words. */
function history({ toAddress, toDomain, domain }: Recipient): string {
  if (toAddress.count > 0) return `${counted(toAddress.count)} to this address before`;
  if (toDomain.count > 0) return `first mail to this address, ${counted(toDomain.count)} to ${visibleText(domain)}`;
  return `first mail to ${visibleText(domain)}`;
}

const counted = (count: number): string => (count === 1 ? 'one mail' : `${count.toLocaleString()} mails`);
