import { useQuery } from '@tanstack/react-query';
import { Link, lazyRouteComponent, useNavigate } from '@tanstack/react-router';
import { useSignIn } from '../../api/session.ts';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { singleSignOnQuery, useBeginSingleSignOn, usePasskeySignIn } from './queries.ts';

/** Loaded by those whose account has a second factor. */
const SecondStep = lazyRouteComponent(() => import('./second-step.tsx'), 'SecondStep');

/** @param to where to go afterwards */
export function SignInPage({ to }: { readonly to: string }) {
  const signIn = useSignIn();
  const byPasskey = usePasskeySignIn();
  const navigate = useNavigate();
  const goOn = () => void navigate({ href: to, replace: true });
  if (signIn.data !== undefined && 'challenge' in signIn.data)
    return (
      <SecondStep
        challenge={signIn.data.challenge}
        passkey={signIn.data.passkey}
        email={signIn.variables?.email ?? ''}
        onDone={goOn}
        onRestart={signIn.reset}
      />
    );
  return (
    <EntryFrame title="Sign in" below={<Link to="/forgot-password">Forgot your password?</Link>}>
      <Form
        onSubmit={(typed) =>
          signIn.mutate(
            { email: typed('email').trim(), password: typed('password') },
            { onSuccess: (body) => ('challenge' in body ? undefined : goOn()) },
          )
        }
      >
        <ProblemNote error={signIn.error ?? byPasskey.error} />
        <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" look="primary" busy={signIn.isPending}>
          Sign in
        </Button>
      </Form>
      <Button busy={byPasskey.isPending} onClick={() => byPasskey.mutate(undefined, { onSuccess: goOn })}>
        Use a passkey
      </Button>
      <SingleSignOn to={to} />
    </EntryFrame>
  );
}

/** The provider that the operator has set, if there is one. */
function SingleSignOn({ to }: { readonly to: string }) {
  const { data } = useQuery(singleSignOnQuery);
  const begin = useBeginSingleSignOn(to);
  if (data === undefined || data.name === null) return null;
  return (
    <>
      <ProblemNote error={begin.error} />
      <Button busy={begin.isPending} onClick={() => begin.mutate()}>
        Continue with {data.name}
      </Button>
    </>
  );
}
