import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Problem } from '../../../api/client.ts';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { Time } from '../../../components/shown/time.tsx';
import { finishRequest } from '../decision/draft.ts';
import { HeldRequest } from '../decision/held-request.tsx';
import type { Consent } from '../queries.ts';
import { TakeBack } from '../take-back.tsx';
import {
  linkRequestQuery,
  loadLinkAttachment,
  loadLinkRaw,
  useApproveByLink,
  useDenyByLink,
  useSendBackByLink,
  useTakeBackByLink,
} from './queries.ts';

/** The page behind the link of a notice: one request and its decision, for a phone, without a session. */
export function ApprovalLinkPage() {
  const [token, setToken] = useState(takeLinkToken);
  // A second link opened in this tab changes nothing but the fragment.
  useEffect(() => {
    const onHash = () => setToken(takeLinkToken());
    addEventListener('hashchange', onHash);
    document.title = 'Held message · Agent Mailbox';
    return () => removeEventListener('hashchange', onHash);
  }, []);
  return (
    <main className="mx-auto w-full max-w-2xl p-3 sm:py-8">
      {token === null || !isWholeToken(token) ? <NoToken /> : <LinkedRequest key={token} token={token} />}
    </main>
  );
}

function LinkedRequest({ token }: { readonly token: string }) {
  const message = useQuery(linkRequestQuery(token));
  const [decided, setDecided] = useState<Consent>();
  const onDecided = (consent: Consent) => {
    finishRequest(consent.id);
    setDecided(consent);
  };
  const approve = useApproveByLink(token, onDecided);
  const deny = useDenyByLink(token, onDecided);
  const sendBack = useSendBackByLink(token, onDecided);
  const takeBack = useTakeBackByLink(token, () => {
    setDecided(undefined);
    for (const change of [approve, deny, sendBack]) change.reset();
    void message.refetch();
  });
  if (decided !== undefined)
    return (
      <Done consent={decided}>
        <TakeBack consent={decided} change={takeBack} onTakeBack={() => takeBack.mutate(undefined)} />
      </Done>
    );
  if (message.isError) return <Refused error={message.error} onRetry={() => void message.refetch()} />;
  if (message.data === undefined)
    return (
      <>
        <Waiting />
        <div aria-busy className="h-80 rounded-lg border border-line bg-panel" />
      </>
    );
  const { member, organization, linkExpiresAt } = message.data;
  const late = [approve.error, deny.error, sendBack.error].find(endsTheLink);
  if (late !== undefined) return <Refused error={late} />;
  return (
    <>
      <Waiting />
      <p className="mb-3 text-muted">
        You decide as {member.name} for {organization.name}. The link is yours alone and expires{' '}
        <Time value={linkExpiresAt} />.
      </p>
      {message.data.mayDecide ? null : (
        <p role="status" className="mb-3 rounded-lg border border-line bg-panel px-4 py-3">
          {organization.name} requires a second factor for decisions.{' '}
          <a href={`/approvals?open=${message.data.message.consent.id}`}>Sign in to decide</a>
        </p>
      )}
      <HeldRequest
        message={message.data.message}
        loadAttachment={(aid) => loadLinkAttachment(token, aid)}
        loadRaw={() => loadLinkRaw(token)}
        links={false}
        key={message.data.message.sha256}
        wasPending
        approve={approve}
        deny={deny}
        sendBack={sendBack}
        keys={false}
      />
    </>
  );
}

const Waiting = () => <h1 className="mb-3">A message waits for you</h1>;

/** Statuses of a link that is no longer valid. */
const ENDED = new Set([401, 403, 404, 410]);
const endsTheLink = (error: unknown): error is Problem => error instanceof Problem && ENDED.has(error.status);

function Done({ consent, children }: { readonly consent: Consent; readonly children: ReactNode }) {
  if (consent.status === 'pending')
    return (
      <Card title="Approved by you">
        <p role="status">A rule asks for two persons. The message is sent when a second one has approved it.</p>
      </Card>
    );
  const approved = consent.status === 'approved';
  const returned = consent.decision?.returned === true;
  const sent = consent.undoUntil === null ? 'is sent now' : 'is sent when it can no longer be taken back';
  const what = approved ? sent : returned ? 'is not sent; the agent has your comment' : 'is not sent';
  return (
    <Card title={approved ? 'Approved' : returned ? 'Sent back' : 'Denied'}>
      <p role="status">
        “{visibleText(consent.subject) || '(no subject)'}” {what}. You can close this page.
      </p>
      <div>{children}</div>
    </Card>
  );
}

function Refused({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (!endsTheLink(error)) return <ProblemNote error={error} {...(onRetry === undefined ? {} : { onRetry })} />;
  if (error.code === 'second_factor_required')
    return (
      <Card title="Sign in to decide">
        <p role="alert">{error.message}</p>
        <SignIn />
      </Card>
    );
  return (
    <Card title="This link is no longer valid">
      <p role="alert">{error.message}</p>
      <p className="text-muted">Opening it again changes nothing.</p>
      <SignIn />
    </Card>
  );
}

function NoToken() {
  return (
    <Card title="The link is not whole">
      <p role="alert">Open it from the notice again, or copy the whole address, including the part after the #.</p>
      <SignIn />
    </Card>
  );
}

const SignIn = () => (
  <p>
    <a href="/approvals">Sign in to see the approvals</a>
  </p>
);

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="grid gap-2 rounded-lg border border-line bg-panel p-4">
      <h1>{title}</h1>
      {children}
    </section>
  );
}

/**
 * The credential of a link in a notice. It stands in the fragment of the address, which browsers send nowhere; it is
 * taken out of the address at once, so that it is in no history and no screenshot, and kept for this tab only.
 */
const KEY = 'agent-mailbox.approval-link';

/** As the service makes them; a shorter one lost its end on the way. */
const FORM = /^aml_[A-Za-z0-9_-]{43}[0-9a-z]{6}$/;

const isWholeToken = (token: string): boolean => FORM.test(token);

/** @returns the token of the address, else the one this tab was opened with; null: there is none */
function takeLinkToken(): string | null {
  const token = location.hash.slice(1);
  if (token === '') return sessionStorage.getItem(KEY);
  sessionStorage.setItem(KEY, token);
  history.replaceState(history.state, '', location.pathname);
  return token;
}
