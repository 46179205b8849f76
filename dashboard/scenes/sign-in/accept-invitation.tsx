import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Field, Form } from '../../components/forms/form.tsx';
import { NewPassword } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { Failure, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { aboutField, Problem } from '../../problem.ts';
import { type InvitationLook, invitationQuery, useAcceptInvitation, useLinkToken } from './queries.ts';
import { SecondStep } from './second-step.tsx';

const UNAUTHENTICATED = 401;
const NOT_FOUND = 404;

/** Behind the link of an invitation: what it is for, then the account. */
export function AcceptInvitationPage() {
  const token = useLinkToken();
  return token === undefined ? <DeadLink /> : <Invitation token={token} />;
}

function DeadLink() {
  return (
    <EntryFrame
      title="This invitation is no longer valid"
      note="It was used, withdrawn, replaced by a later one, or is older than a week."
      below={<Link to="/sign-in">Sign in</Link>}
    >
      <p>Ask the person who invited you for another one.</p>
    </EntryFrame>
  );
}

function Invitation({ token }: { readonly token: string }) {
  const look = useQuery(invitationQuery(token));
  if (look.error instanceof Problem && look.error.status === NOT_FOUND) return <DeadLink />;
  if (look.data !== undefined) return <Accept token={token} look={look.data} />;
  return <EntryFrame title="Invitation">{look.isError ? <Failure query={look} /> : <Skeleton rows={3} />}</EntryFrame>;
}

function Accept({ token, look }: { readonly token: string; readonly look: InvitationLook }) {
  const accept = useAcceptInvitation(look.organizationName);
  const navigate = useNavigate();
  const goOn = () => void navigate({ to: '/', replace: true });
  const isWrong = accept.error instanceof Problem && accept.error.status === UNAUTHENTICATED;
  if (accept.error instanceof Problem && accept.error.status === NOT_FOUND) return <DeadLink />;
  if (accept.data !== undefined && 'challenge' in accept.data)
    return (
      <SecondStep
        challenge={accept.data.challenge}
        passkey={accept.data.passkey}
        email={look.email}
        onDone={goOn}
        onRestart={() => void navigate({ to: '/sign-in' })}
      />
    );
  const [aboutName, aboutPassword] = [aboutField(accept.error, '/name'), aboutField(accept.error, '/password')];
  const isAtField = isWrong || aboutName !== undefined || aboutPassword !== undefined;
  return (
    <EntryFrame
      title={`Join ${look.organizationName}`}
      note={
        <>
          {look.invitedBy === null ? null : (
            <>
              {visibleText(look.invitedBy.name)} ({look.invitedBy.email}) invites you.{' '}
            </>
          )}
          {look.email} is invited as {look.role}.
        </>
      }
    >
      <Form
        onSubmit={(typed) =>
          accept.mutate(
            { token, password: typed('password'), ...(look.accountExists ? {} : { name: typed('name').trim() }) },
            { onSuccess: (body) => ('challenge' in body ? undefined : goOn()) },
          )
        }
      >
        {isAtField ? null : <ProblemNote error={accept.error} />}
        {/* For password managers: whose password it is. */}
        <input type="email" autoComplete="username" value={look.email} readOnly hidden />
        {look.accountExists ? (
          <Field
            label="Password"
            name="password"
            type="password"
            required
            autoFocus
            autoComplete="current-password"
            hint="This address already has an account: enter its password."
            error={isWrong ? 'This is not the password of the account.' : undefined}
          />
        ) : (
          <>
            <Field
              label="Your name"
              name="name"
              required
              autoFocus
              maxLength={200}
              autoComplete="name"
              error={aboutName}
            />
            <NewPassword label="Choose a password" error={aboutPassword} />
          </>
        )}
        <Button type="submit" look="primary" busy={accept.isPending}>
          Join {look.organizationName}
        </Button>
        {look.accountExists ? <Link to="/forgot-password">Forgot your password?</Link> : null}
      </Form>
    </EntryFrame>
  );
}
