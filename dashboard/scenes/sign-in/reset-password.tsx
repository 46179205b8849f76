import { Link } from '@tanstack/react-router';
import { Form } from '../../components/forms/form.tsx';
import { NewPassword } from '../../components/forms/settings.tsx';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { aboutField, Problem } from '../../problem.ts';
import { useLinkToken, useResetPassword } from './queries.ts';

const NOT_FOUND = 404;

/** Behind the link of a reset: a new password, then the sign-in. */
export function ResetPasswordPage() {
  const token = useLinkToken();
  const reset = useResetPassword();
  const isDead = reset.error instanceof Problem && reset.error.status === NOT_FOUND;
  if (token === undefined || isDead)
    return (
      <EntryFrame
        title="This link is no longer valid"
        note="It was used, is older than an hour, or was replaced by a later one."
      >
        <Link to="/forgot-password" className={buttonClass('primary', 'text-accent-text!')}>
          Ask for a new link
        </Link>
      </EntryFrame>
    );
  if (reset.isSuccess)
    return (
      <EntryFrame title="Your password was changed" note="You were signed out everywhere.">
        <Link to="/sign-in" className={buttonClass('primary', 'text-accent-text!')}>
          Sign in
        </Link>
      </EntryFrame>
    );
  const about = aboutField(reset.error, '/password');
  return (
    <EntryFrame title="Choose a new password">
      <Form onSubmit={(typed) => reset.mutate({ token, password: typed('password') })}>
        {about === undefined ? <ProblemNote error={reset.error} /> : null}
        <NewPassword label="New password" error={about} />
        <Button type="submit" look="primary" busy={reset.isPending}>
          Change the password
        </Button>
      </Form>
    </EntryFrame>
  );
}
