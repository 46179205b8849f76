import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import type { ConsentMessage } from '../queries.ts';
import { type FieldChange, FieldDifferences } from './outcome.tsx';

type Version = ConsentMessage['earlierVersions'][number];
/** What versions are compared by. */
type Compared = Pick<Version, 'to' | 'cc' | 'bcc' | 'subject' | 'text'>;

/** Versions of the message that were sent back, newest first: each comment, and what changed after it. */
export function EarlierVersions({ message }: { readonly message: ConsentMessage }) {
  const shown: Compared = { ...message, text: message.text ?? message.textOfHtml };
  const versions = message.earlierVersions;
  return (
    <section aria-label="Earlier versions" className="grid gap-3 rounded-md border border-line bg-sunken px-3 py-2">
      {versions.map((version, i) => (
        <Returned key={version.consentId} version={version} next={versions[i - 1] ?? shown} />
      ))}
    </section>
  );
}

function Returned({ version, next }: { readonly version: Version; readonly next: Compared }) {
  const { comment, returnedAt, returnedBy, text, cut } = version;
  const changes = changesOf(version, next);
  return (
    <div className="grid min-w-0 gap-2">
      <p className="break-words">
        <span className="font-medium">
          Sent back{returnedBy === null ? null : <> by {visibleText(returnedBy)}</>}
          {returnedAt === null ? null : (
            <>
              , <Time value={returnedAt} />
            </>
          )}
          :
        </span>{' '}
        {visibleText(comment ?? '')}
      </p>
      {text === null ? <p className="text-muted">The text of that version is no longer kept.</p> : null}
      {changes.length === 0 && text !== null ? (
        <p className="text-wait">Text, subject and recipients are the same as before.</p>
      ) : null}
      <FieldDifferences changes={changes} />
      {cut ? <p className="text-muted">The text is longer than what is compared.</p> : null}
    </div>
  );
}

function changesOf(before: Version, after: Compared): FieldChange[] {
  // Recipients of deleted content are not known.
  const fields = before.text === null ? (['subject'] as const) : (['to', 'cc', 'bcc', 'subject', 'text'] as const);
  const valueOf = (version: Compared, field: (typeof fields)[number]): string => {
    const value = version[field];
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n').trimEnd() : (value ?? []).join('\n');
  };
  return fields.flatMap((field) => {
    const was = valueOf(before, field);
    // The earlier text is cut at some length: what comes after it is not compared.
    const is = before.cut && field === 'text' ? valueOf(after, field).slice(0, was.length) : valueOf(after, field);
    return was === is ? [] : [{ field, before: was, after: is }];
  });
}
