import { Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useSignIn } from '../../api/session.ts';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';

/** @param to where to go afterwards */
export function SignInPage({ to }: { readonly to: string }) {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate(
      { email: textOfField(form, 'email').trim(), password: textOfField(form, 'password') },
      { onSuccess: () => void navigate({ href: to, replace: true }) },
    );
  };
  return (
    <EntryFrame title="Sign in" below={<Link to="/forgot-password">Forgot your password?</Link>}>
      <form onSubmit={submit} className="grid gap-4">
        <ProblemNote error={signIn.error} />
        <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" look="primary" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </EntryFrame>
  );
}
