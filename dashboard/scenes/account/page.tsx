import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Field, Form } from '../../components/forms/form.tsx';
import { NewPassword, SaveRow } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField, Problem } from '../../problem.ts';
import {
  linkedQuery,
  type SessionOfList,
  sessionsQuery,
  useChangePassword,
  useEndOtherSessions,
  useEndSession,
  useUnlink,
} from './queries.ts';
import { SecondFactor } from './second-factor.tsx';

const UNAUTHENTICATED = 401;

/** What is about the person and not about an organization. */
export function AccountPage() {
  const { user, organizations } = useSignedIn();
  return (
    <>
      <PageHead title="My account" />
      <div className="grid max-w-2xl gap-8">
        <dl className="grid grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-2 rounded-lg border border-line bg-panel p-4 break-words">
          <dt className="text-muted">Name</dt>
          <dd>{user.name}</dd>
          <dt className="text-muted">Email</dt>
          <dd>{user.email}</dd>
          <dt className="text-muted">Member of</dt>
          <dd>{organizations.map(({ name, role }) => `${name} (${role})`).join(', ') || 'no organization'}</dd>
        </dl>
        <Sessions />
        <SecondFactor />
        <LinkedAccounts />
        <ChangePassword />
      </div>
    </>
  );
}

function ChangePassword() {
  const { user } = useSignedIn();
  const change = useChangePassword();
  const [saved, setSaved] = useState(false);
  const isWrong = change.error instanceof Problem && change.error.status === UNAUTHENTICATED;
  const about = aboutField(change.error, '/newPassword');
  return (
    <Form
      aria-label="Password"
      onSubmit={(typed, form) =>
        change.mutate(
          { currentPassword: typed('current'), newPassword: typed('password') },
          {
            onSuccess: () => {
              setSaved(true);
              form.reset();
            },
          },
        )
      }
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <div>
        <h2>Password</h2>
        <p className="text-muted">A new password ends your sessions in other browsers and programs.</p>
      </div>
      {isWrong || about !== undefined ? null : <ProblemNote error={change.error} />}
      {/* For password managers: whose password it is. */}
      <input type="email" autoComplete="username" value={user.email} readOnly hidden />
      <Field
        label="Current password"
        name="current"
        type="password"
        required
        autoComplete="current-password"
        error={isWrong ? 'This is not your current password.' : undefined}
      />
      <NewPassword label="New password" error={about} />
      <SaveRow done={saved ? 'Changed' : ''} busy={change.isPending}>
        Change the password
      </SaveRow>
    </Form>
  );
}

/** Where the person is signed in, and how to end it. */
function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const end = useEndSession();
  const endOthers = useEndOtherSessions();
  const others = sessions.data?.filter(({ current }) => !current).length ?? 0;
  return (
    <Section
      title="Where you are signed in"
      aside={
        others > 0 ? (
          <Button look="stop" busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            Sign out everywhere else
          </Button>
        ) : null
      }
    >
      <ProblemNote error={end.error ?? endOthers.error} />
      <Loaded query={sessions} rows={2}>
        {(rows) => (
          <SteadyList label="Sessions" answer={rows} rows={rows} empty={null}>
            {(session) => <SessionRow session={session} end={end} />}
          </SteadyList>
        )}
      </Loaded>
    </Section>
  );
}

/** Only where there are some: they are linked at the sign-in. */
function LinkedAccounts() {
  const linked = useQuery(linkedQuery);
  const unlink = useUnlink();
  if (linked.data === undefined || linked.data.length === 0) return null;
  return (
    <Section title="Single sign-on" note="Who signs in there as you signs in here. Your password stays valid.">
      <ProblemNote error={unlink.error} />
      <SteadyList label="Linked accounts" answer={linked.data} rows={linked.data} empty={null}>
        {({ id, issuer, createdAt }) => (
          <div className="flex flex-wrap items-center gap-3">
            <span className="min-w-0 flex-1 basis-48 break-words">
              {issuer}
              <span className="block text-muted">
                linked <Time value={createdAt} />
              </span>
            </span>
            <Button busy={unlink.isPending} onClick={() => unlink.mutate(id)}>
              Separate
            </Button>
          </div>
        )}
      </SteadyList>
    </Section>
  );
}

interface SessionRowProps {
  readonly session: SessionOfList;
  readonly end: ReturnType<typeof useEndSession>;
}

function SessionRow({ session, end }: SessionRowProps) {
  const { id, current, createdAt, lastUsedAt, ipAddress, userAgent } = session;
  const name = programName(userAgent);
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_150px_auto]">
      <div className="min-w-0">
        <span className="block truncate font-medium" title={userAgent ?? undefined}>
          {name}
        </span>
        <span className="block text-muted">
          {ipAddress === null ? 'signed in ' : `from ${ipAddress}, signed in `}
          <Time value={createdAt} />
        </span>
      </div>
      <span className="text-muted">
        used <Time value={lastUsedAt} />
      </span>
      {current ? (
        <span>
          <Badge meaning="ok">This browser</Badge>
        </span>
      ) : (
        <Button
          aria-label={`End the session of ${name}`}
          busy={end.isPending && end.variables === id}
          onClick={() => end.mutate(id)}
        >
          End
        </Button>
      )}
    </div>
  );
}

/** The more special ones first: they name those they are made of. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;
const SHOWN_MAX = 60;

/** The program that a User-Agent names, in words; the whole text is shown on hover. */
function programName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown program';
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined) return userAgent.slice(0, SHOWN_MAX);
  return system === undefined ? browser : `${browser} on ${system}`;
}
