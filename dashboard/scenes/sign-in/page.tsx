import { Link, useNavigate } from '@tanstack/react-router';
import { useSignIn } from '../../api/session.ts';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';

/** @param to where to go afterwards */
export function SignInPage({ to }: { readonly to: string }) {
  const signIn = useSignIn();
  const navigate = useNavigate();
  return (
    <EntryFrame title="Sign in" below={<Link to="/forgot-password">Forgot your password?</Link>}>
      <Form
        onSubmit={(typed) =>
          signIn.mutate(
            { email: typed('email').trim(), password: typed('password') },
            { onSuccess: () => void navigate({ href: to, replace: true }) },
          )
        }
      >
        <ProblemNote error={signIn.error} />
        <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" look="primary" busy={signIn.isPending}>
          Sign in
        </Button>
      </Form>
    </EntryFrame>
  );
}
