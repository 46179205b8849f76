import { Disclosure } from '../../../components/frame/disclosure.tsx';
import type { TimelineEntry } from '../../../components/lists/timeline.tsx';
import { Countdown } from '../../../components/shown/countdown.tsx';
import { Snippet } from '../../../components/shown/snippet.tsx';
import type { Attempt, DeliveryWithAttempts } from '../queries.ts';
import { REASONS } from '../states.tsx';

const ERRORS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  timeout: 'no answer within 15 s',
  dns_failed: 'the name did not resolve',
  connect_refused: 'the connection was refused',
  connect_failed: 'no connection',
  tls_failed: 'TLS failed',
  reset: 'the connection was reset',
  http_status: 'refused',
  unsafe_destination: 'the address was not publicly routable',
  response_too_large: 'the answer was too large',
  aborted: 'broken off',
};

/** @param url undefined while it is not known. @param expected an attempt was asked for and has not been seen yet */
export function deliveryEntries(
  delivery: DeliveryWithAttempts,
  url: string | undefined,
  expected: boolean,
): TimelineEntry[] {
  const { payload, createdAt, eventType, attempts, status, reason, nextAttemptAt, completedAt, lastError } = delivery;
  const occurredAt = payload['occurredAt'];
  const host = url === undefined ? 'the endpoint' : new URL(url).host;
  const entries: TimelineEntry[] = [
    {
      key: 'event',
      at: typeof occurredAt === 'string' ? occurredAt : createdAt,
      meaning: 'info',
      title: (
        <>
          Event <code className="font-mono text-[13px]">{eventType}</code> recorded
        </>
      ),
      children: (
        <Disclosure title="Payload">
          <Snippet what="Payload" text={JSON.stringify(payload, null, 2)} />
        </Disclosure>
      ),
    },
    ...attempts.map((attempt) => attemptEntry(attempt, host, delivery.maxAttempts)),
  ];
  if (status === 'exhausted' && reason !== null)
    entries.push({
      key: 'exhausted',
      at: completedAt ?? undefined,
      meaning: 'stop',
      title: `Given up: ${REASONS[reason]}`,
      ...(lastError === null ? {} : { children: <p className="text-muted">{lastError}</p> }),
    });
  const isOpen = status === 'pending' || status === 'failed';
  if (expected || isOpen)
    entries.push({
      key: 'next',
      at: undefined,
      meaning: 'wait',
      title:
        !expected && nextAttemptAt !== null ? (
          <>
            Next attempt <Countdown value={nextAttemptAt} />
          </>
        ) : (
          'Attempt at any moment'
        ),
    });
  return entries.toSorted(byTime);
}

/** Future entries come last. */
const byTime = (a: TimelineEntry, b: TimelineEntry): number =>
  (a.at === undefined ? Number.POSITIVE_INFINITY : Date.parse(a.at)) -
  (b.at === undefined ? Number.POSITIVE_INFINITY : Date.parse(b.at));

function attemptEntry(attempt: Attempt, host: string, maxAttempts: number): TimelineEntry {
  const { number, trigger, startedAt, durationMs, responseCode, error, responseHeaders, responseBody } = attempt;
  const headers = Object.entries(responseHeaders ?? {});
  return {
    key: `attempt ${number}`,
    at: startedAt,
    meaning: error === null ? 'ok' : 'stop',
    title: (
      <>
        → {host} <span className="font-medium">{responseCode ?? (error === null ? '' : ERRORS[error])}</span> in{' '}
        {durationMs.toLocaleString()} ms
      </>
    ),
    aside: (
      <span className="text-muted">
        {trigger === 'manual' ? `attempt ${number}, by hand` : `attempt ${number} of ${maxAttempts}`}
      </span>
    ),
    children:
      headers.length === 0 && responseBody === null ? null : (
        <Disclosure title="Response">
          <div className="grid gap-2">
            {headers.length === 0 ? null : (
              <Snippet
                what={`Response headers of attempt ${number}`}
                text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
              />
            )}
            {responseBody === null || responseBody === '' ? (
              <p className="text-muted">The body was empty.</p>
            ) : (
              <Snippet what={`Response body of attempt ${number}`} text={responseBody} />
            )}
          </div>
        </Disclosure>
      ),
  };
}
