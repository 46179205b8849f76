import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { mailboxNameQuery, singleQuery } from '../../api/queries.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { isTaken, useKeys } from '../../components/frame/keys.ts';
import { Empty, Failure, Skeleton } from '../../components/frame/page.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { type ConsentMessage, loadAttachment, loadRaw, requestQuery } from './queries.ts';
import { ReasonField } from './reason-field.tsx';
import { Request } from './request/request.tsx';

/** As many as one call decides. */
const TOGETHER_MAX = 20;

type Decisions = Schemas['SeveralDecisions'];

/** What waits of a mailbox at this moment, the highest risk first. It is read once: what comes later moves nothing. */
const togetherQuery = (mailboxId: string, round: number) =>
  singleQuery(
    ['several', mailboxId, round],
    () =>
      bodyOf(
        service.GET('/api/consents', {
          params: { query: { status: 'pending', order: 'risk', mailboxId, limit: TOGETHER_MAX } },
        }),
      ),
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false },
  );

interface SeveralProps {
  readonly mailboxId: string;
  readonly onClose: () => void;
}

/**
 * Messages of one agent on one card, each whole with its recipients. A person chooses under the text; what is chosen is
 * the hash that was shown, so a message that changes is not chosen any more. Keys: j, k move, x chooses, a approves and d
 * denies what is chosen.
 */
export function Several({ mailboxId, onClose }: SeveralProps) {
  const mailbox = useQuery(mailboxNameQuery(mailboxId));
  const [round, setRound] = useState(0);
  const list = useQuery(togetherQuery(mailboxId, round));
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [reasons, setReasons] = useState<ReadonlyMap<string, string>>(new Map());
  const [asking, setAsking] = useState<Decisions['decision']>();
  const [at, setAt] = useState(0);
  const [last, setLast] = useState<{ decision: Decisions['decision']; done: number; leftOut: number }>();
  const ids = list.data?.data.map(({ id }) => id).filter((id) => !decided.has(id)) ?? [];
  // What the items have on view.
  const [loaded, setLoaded] = useState<ReadonlyMap<string, ConsentMessage>>(new Map());
  const shown = ids.flatMap((id) => loaded.get(id) ?? []);
  const picked = shown.filter(({ consent, sha256 }) => chosen.get(consent.id) === sha256);
  const change = useDecideSeveral((body, { decided: done, leftOut }) => {
    setDecided(new Set([...decided, ...done.map(({ id }) => id)]));
    setReasons(new Map(leftOut.map(({ consentId, message }) => [consentId, message])));
    setChosen(new Map());
    setAsking(undefined);
    setLast({ decision: body.decision, done: done.length, leftOut: leftOut.length });
  });
  const choose = ({ consent, sha256 }: ConsentMessage) => {
    const next = new Map(chosen);
    if (chosen.get(consent.id) === sha256) next.delete(consent.id);
    else next.set(consent.id, sha256);
    setChosen(next);
  };
  const items = useRef<HTMLOListElement>(null);
  useKeys((event) => {
    if (isTaken(event) || event.repeat) return;
    const current = loaded.get(ids[Math.min(at, ids.length - 1)] ?? '');
    const move = (step: number) => {
      const next = Math.min(ids.length - 1, Math.max(0, at + step));
      setAt(next);
      const item = items.current?.children[next];
      if (item instanceof HTMLElement) item.focus();
    };
    const action = {
      j: () => move(1),
      k: () => move(-1),
      x: () => current !== undefined && choose(current),
      a: () => picked.length > 0 && setAsking('approve'),
      d: () => picked.length > 0 && setAsking('deny'),
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  return (
    <section aria-label="Several together" className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-72 text-muted">
          Messages of <bdi>{mailbox.data?.address ?? 'this mailbox'}</bdi>, the highest risk first. Read each one,
          choose it below its text, then decide about all that you chose.
        </p>
        <Button onClick={onClose}>One at a time</Button>
      </div>
      <Failure query={list} />
      <p role="status" className={last === undefined ? 'sr-only' : 'rounded-md bg-sunken px-3 py-2'}>
        {last === undefined
          ? ''
          : `${last.done.toLocaleString()} ${last.decision === 'approve' ? 'approved' : 'denied'}${
              last.leftOut === 0 ? '' : `, ${last.leftOut.toLocaleString()} not decided: see below`
            }.`}
      </p>
      {list.isPending ? <Skeleton /> : null}
      {list.isSuccess && ids.length === 0 ? (
        <Empty title="All of these are decided">
          <Button onClick={() => setRound(round + 1)}>Show what waits now</Button>
        </Empty>
      ) : null}
      <ol ref={items} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {ids.map((id, i) => (
          <Item
            key={id}
            id={id}
            chosen={chosen.get(id)}
            reason={reasons.get(id)}
            onShown={(message) => setLoaded((before) => new Map(before).set(id, message))}
            onChoose={choose}
            onFocus={() => setAt(i)}
          />
        ))}
      </ol>
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-panel px-4 py-3 max-sm:bottom-16">
        <Button look="primary" disabled={picked.length === 0} onClick={() => setAsking('approve')}>
          Approve {picked.length}
        </Button>
        <Button look="stop" disabled={picked.length === 0} onClick={() => setAsking('deny')}>
          Deny {picked.length}
        </Button>
        <p className="text-muted">
          {picked.length} of {shown.length} chosen
        </p>
      </div>
      {asking === undefined ? null : (
        <Sure decision={asking} picked={picked} change={change} onClose={() => setAsking(undefined)} />
      )}
    </section>
  );
}

interface ItemProps {
  readonly id: string;
  /** The hash that was chosen. */
  readonly chosen: string | undefined;
  /** Why it was not decided. */
  readonly reason: string | undefined;
  readonly onShown: (message: ConsentMessage) => void;
  readonly onChoose: (message: ConsentMessage) => void;
  readonly onFocus: () => void;
}

/** One message, whole. */
function Item({ id, chosen, reason, onShown, onChoose, onFocus }: ItemProps) {
  const query = useQuery(requestQuery(id));
  const message = query.data;
  const report = useRef(onShown);
  report.current = onShown;
  useEffect(() => {
    if (message !== undefined) report.current(message);
  }, [message]);
  return (
    <li tabIndex={-1} onFocus={onFocus} className="rounded-lg">
      <Failure query={query} />
      {message === undefined ? (
        <Skeleton rows={3} />
      ) : (
        <Request
          message={message}
          loadAttachment={(aid) => loadAttachment(id, aid)}
          loadRaw={() => loadRaw(id)}
          links
          whole
        >
          <div className="grid gap-1 rounded-b-lg border-t border-line bg-sunken px-4 py-3">
            {reason === undefined ? null : (
              <p role="alert" className="text-stop">
                {reason}
              </p>
            )}
            {message.consent.status === 'pending' ? (
              <label className="flex min-h-8 items-center gap-2 font-medium max-sm:min-h-11">
                <input type="checkbox" checked={chosen === message.sha256} onChange={() => onChoose(message)} />I have
                read it: decide about this one
              </label>
            ) : (
              <p>It was decided by somebody else.</p>
            )}
          </div>
        </Request>
      )}
    </li>
  );
}

function useDecideSeveral(onDone: (body: Decisions, answer: Schemas['SeveralDecided']) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Decisions) => bodyOf(service.POST('/api/consents/decide', { body })),
    onSuccess: (answer, body) => onDone(body, answer),
    onSettled: () => queries.invalidateQueries({ queryKey: ['consents'] }),
  });
}

interface SureProps {
  readonly decision: Decisions['decision'];
  readonly picked: readonly ConsentMessage[];
  readonly change: ReturnType<typeof useDecideSeveral>;
  readonly onClose: () => void;
}

/** Asks once more, with everybody who would get one of the messages. */
function Sure({ decision, picked, change, onClose }: SureProps) {
  const [reason, setReason] = useState('');
  const approves = decision === 'approve';
  const what = picked.length === 1 ? 'one message' : `${picked.length} messages`;
  const shown = picked.map(({ consent, sha256 }) => ({ consentId: consent.id, sha256 }));
  // Everything that was chosen has changed meanwhile.
  useEffect(() => {
    if (picked.length === 0) onClose();
  });
  return (
    <Confirm
      title={approves ? `Approve ${what}?` : `Deny ${what}?`}
      consequence={
        approves
          ? 'Exactly what you were shown is sent. Other messages to these recipients wait for a person as before.'
          : 'They are not sent. The agent is given your reason.'
      }
      action={approves ? 'Approve' : 'Deny'}
      look={approves ? 'primary' : 'stop'}
      cancel={false}
      change={change}
      onConfirm={() =>
        change.mutate({ decision, shown, ...(approves || reason.trim() === '' ? {} : { reason: reason.trim() }) })
      }
      onClose={onClose}
    >
      <ul aria-label="Chosen messages" tabIndex={0} className="max-h-60 overflow-y-auto rounded-md border border-line">
        {picked.map(({ consent, recipients, subject }) => (
          <li key={consent.id} className="border-b border-line px-3 py-1.5 last:border-0">
            <bdi className="block font-medium wrap-anywhere">
              {recipients.map(({ address }) => visibleText(address)).join(', ')}
            </bdi>
            <bdi className="block truncate text-muted">{visibleText(subject) || '(no subject)'}</bdi>
          </li>
        ))}
      </ul>
      {approves ? null : <ReasonField value={reason} onChange={setReason} />}
    </Confirm>
  );
}
