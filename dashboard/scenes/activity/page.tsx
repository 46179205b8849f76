import { useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Hits } from './hits.tsx';
import { activityQuery } from './queries.ts';
import { TimelineOf } from './timeline-of.tsx';

export interface ActivityPageProps {
  readonly q: string;
  readonly onSearch: (q: string) => void;
}

/** One search box; the result is one timeline, or as a list of messages that each have one. */
export function ActivityPage({ q, onSearch }: ActivityPageProps) {
  const asked = q.trim();
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  const found = useQuery(activityQuery(asked));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === asked) void found.refetch();
    else onSearch(text.trim());
  };
  return (
    <>
      <PageHead title="Activity" />
      <search>
        <form onSubmit={submit} className="mb-5 flex gap-2">
          <div className="relative min-w-0 flex-1">
            <Search size={16} aria-hidden className="absolute top-1/2 left-3 -translate-y-1/2 text-muted" />
            <input
              type="search"
              aria-label="Address, subject words, or an id"
              placeholder="Address, subject words, msg_…, evt_…, con_… or webhook-id"
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              // The page is this field.
              autoFocus={asked === ''}
              maxLength={512}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className="h-10 w-full rounded-md border border-line-strong bg-panel pr-3 pl-9 placeholder:text-faint max-sm:h-11 max-sm:text-base"
            />
          </div>
          <Button type="submit" look="primary" className="h-10" busy={found.isFetching && found.data === undefined}>
            Search
          </Button>
        </form>
      </search>
      <div aria-live="polite" aria-busy={found.isFetching && found.data === undefined}>
        {found.isError ? <ProblemNote error={found.error} onRetry={() => void found.refetch()} /> : null}
        {asked === '' ? <WhatCanBeSearched title="Find out what happened" /> : null}
        {found.data === undefined ? null : (
          <>
            {found.data.complete ? null : (
              <p className="mb-4 rounded-lg border border-wait/40 bg-wait-soft px-4 py-3">
                These words occur in too many messages to look through all of them. Add another word, or search for an
                address or an id.
              </p>
            )}
            {found.data.timeline === null ? null : <TimelineOf timeline={found.data.timeline} focus={asked} />}
            {found.data.timeline === null && found.data.hits.length > 0 ? (
              <Hits key={asked} hits={found.data.hits} more={found.data.more} />
            ) : null}
            {found.data.timeline === null && found.data.hits.length === 0 ? (
              <WhatCanBeSearched title={`Nothing found for “${asked}”`} />
            ) : null}
          </>
        )}
      </div>
    </>
  );
}

const EXAMPLES = [
  ['ada@customer.example', 'an address: of a mailbox, a sender or a recipient'],
  ['order 4711', 'words of a subject or a text'],
  ['msg_01…', 'a message'],
  ['evt_01…', 'an event'],
  ['dlv_01…', 'a delivery: the webhook-id of a request'],
  ['con_01…', 'a request for approval'],
  ['<c1d2@mail.example>', 'a Message-ID, in angle brackets'],
] as const;

function WhatCanBeSearched({ title }: { readonly title: string }) {
  return (
    <Empty title={title}>
      <p>Search for one of these. You see it with everything that happened to it.</p>
      <dl className="grid w-full grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-left max-sm:grid-cols-1">
        {EXAMPLES.map(([example, what]) => (
          <div key={example} className="contents">
            <dt className="font-mono text-[13px] text-text">{example}</dt>
            <dd className="max-sm:pb-2">{what}</dd>
          </div>
        ))}
      </dl>
      <p>Messages are found as long as they are kept; events and deliveries are kept for 30 days.</p>
    </Empty>
  );
}
