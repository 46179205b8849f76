import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { signedIn } from '../../api/session.ts';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { takeBegun, useFinishSingleSignOn, useLinkSingleSignOn } from './queries.ts';
import { SecondStep } from './second-step.tsx';

/** Where the OpenID provider leads back to. What it answered is taken out of the address and sent once. */
export function SingleSignOnPage() {
  const finish = useFinishSingleSignOn();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const to = useRef('/');
  const isSent = useRef(false);
  const goOn = () => void navigate({ href: to.current, replace: true });
  const enter = async (email: string) => {
    await signedIn(queries, email);
    goOn();
  };
  const { mutate } = finish;
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    const query = location.search.slice(1);
    history.replaceState(history.state, '', location.pathname);
    const begun = takeBegun();
    to.current = begun.to;
    mutate(
      { query: query === '' ? 'none' : query, browserKey: begun.browserKey },
      { onSuccess: (body) => ('user' in body ? enter(body.user.email) : undefined) },
    );
  });
  const answer = finish.data;
  if (answer !== undefined && 'link' in answer)
    return <LinkAccount link={answer.link ?? ''} email={answer.email} onDone={() => void enter(answer.email)} />;
  if (answer !== undefined && 'challenge' in answer)
    return (
      <SecondStep
        challenge={answer.challenge}
        passkey={answer.passkey}
        email=""
        onDone={goOn}
        onRestart={() => void navigate({ to: '/sign-in' })}
      />
    );
  return (
    <EntryFrame title="Sign in" below={<Link to="/sign-in">Back to sign-in</Link>}>
      {finish.error === null ? <p role="status">Signing in…</p> : <ProblemNote error={finish.error} />}
    </EntryFrame>
  );
}

interface LinkAccountProps {
  readonly link: string;
  readonly email: string;
  readonly onDone: () => void;
}

/** The first time, a person proves by the password that both accounts are theirs. */
function LinkAccount({ link, email, onDone }: LinkAccountProps) {
  const linking = useLinkSingleSignOn();
  const navigate = useNavigate();
  const step = linking.data;
  if (step !== undefined && 'challenge' in step)
    return (
      <SecondStep
        challenge={step.challenge}
        passkey={step.passkey}
        email={email}
        onDone={onDone}
        onRestart={() => void navigate({ to: '/sign-in' })}
      />
    );
  return (
    <EntryFrame
      title="Link your account"
      note={`There is an account of ${email} here. Enter its password once; from then on you sign in without it.`}
      below={<Link to="/forgot-password">Forgot your password?</Link>}
    >
      <Form
        onSubmit={(typed) =>
          linking.mutate(
            { link, password: typed('password') },
            { onSuccess: (body) => ('challenge' in body ? undefined : onDone()) },
          )
        }
      >
        <ProblemNote error={linking.error} />
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required autoFocus />
        <Button type="submit" look="primary" busy={linking.isPending}>
          Link and sign in
        </Button>
      </Form>
    </EntryFrame>
  );
}
