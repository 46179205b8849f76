import { Link } from '@tanstack/react-router';
import { Timeline, type TimelineEntry } from '../../components/lists/timeline.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import type { NotDelivered } from './queries.ts';

/** Mail that did not arrive, each with the reason. */
export function MailNotDelivered({ mails }: { readonly mails: readonly NotDelivered[] }) {
  return (
    <section className="mb-5 grid min-w-0 gap-2">
      <h2>Mail that did not arrive</h2>
      <Timeline label="Mail that did not arrive" entries={mails.map(entryOf)} />
    </section>
  );
}

const OUTCOMES = {
  refused: ['stop', 'Refused'],
  deferred: ['wait', 'Asked to try again later'],
  held: ['wait', 'Held by screening'],
  blocked: ['stop', 'Held by screening, then blocked'],
  spam: ['stop', 'Held by screening, then reported as spam'],
} as const;

function entryOf(mail: NotDelivered): TimelineEntry {
  const { id, at, direction, outcome, from, to, messageIdHeader, step, answer, client, session, reasons } = mail;
  const [meaning, words] = OUTCOMES[outcome];
  const facts = [
    direction === 'inbound' ? 'received by SMTP' : 'given to us for sending',
    step === null ? '' : `at ${step}`,
    client === null ? '' : `from ${client}`,
    messageIdHeader ?? '',
    session === null ? '' : `session ${session}`,
    ...reasons.map((reason) => reason.replaceAll('_', ' ')),
  ];
  return {
    key: id,
    at,
    meaning,
    title: (
      <>
        {words}: <ForeignText text={from === null || from === '' ? 'no sender' : from} /> →{' '}
        <ForeignText text={to.join(', ')} />
      </>
    ),
    aside: outcome === 'held' ? <Link to="/held-mail">Held mail</Link> : undefined,
    children: (
      <>
        {answer === null ? null : (
          <p className="[overflow-wrap:anywhere]">
            <ForeignText text={answer} />
          </p>
        )}
        <p className="[overflow-wrap:anywhere] text-[13px] text-muted">
          <ForeignText text={facts.filter(Boolean).join(' · ')} />
        </p>
      </>
    ),
  };
}
