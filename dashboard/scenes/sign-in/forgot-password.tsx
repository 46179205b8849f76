import { Link } from '@tanstack/react-router';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { useAskForReset } from './queries.ts';

/** Asks for a link by which a new password is chosen. */
export function ForgotPasswordPage() {
  const ask = useAskForReset();
  const below = <Link to="/sign-in">Back to sign-in</Link>;
  if (ask.isSuccess)
    return (
      <EntryFrame title="Check your mail" below={below}>
        <p role="status">
          If {ask.variables} has an account, a link to choose a new password is on its way. It works once, within an
          hour.
        </p>
        <p className="text-muted">
          No link is sent to an address of this service itself, because agents may read it: there another owner makes
          the link on the page People, or the operator does.
        </p>
      </EntryFrame>
    );
  return (
    <EntryFrame title="Forgot your password" note="Get a link to choose a new one by mail." below={below}>
      <Form onSubmit={(typed) => ask.mutate(typed('email').trim())}>
        <ProblemNote error={ask.error} />
        <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Button type="submit" look="primary" busy={ask.isPending}>
          Send the link
        </Button>
      </Form>
    </EntryFrame>
  );
}
