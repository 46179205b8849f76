import { type FormEvent, useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { NewPassword } from '../../components/forms/new-password.tsx';
import { Button } from '../../components/frame/button.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { aboutField, Problem } from '../../problem.ts';
import { useChangePassword } from './queries.ts';
import { Sessions } from './sessions.tsx';

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
        <ChangePassword />
      </div>
    </>
  );
}

function ChangePassword() {
  const { user } = useSignedIn();
  const change = useChangePassword();
  const [saved, setSaved] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const target = event.currentTarget;
    const form = new FormData(target);
    change.mutate(
      { currentPassword: textOfField(form, 'current'), newPassword: textOfField(form, 'password') },
      {
        onSuccess: () => {
          setSaved(true);
          target.reset();
        },
      },
    );
  };
  const isWrong = change.error instanceof Problem && change.error.status === UNAUTHENTICATED;
  const about = aboutField(change.error, '/newPassword');
  return (
    <form
      aria-label="Password"
      onSubmit={submit}
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
      <div className="flex items-center justify-end gap-3">
        <span aria-live="polite" className="text-ok">
          {saved ? 'Changed' : ''}
        </span>
        <Button type="submit" busy={change.isPending}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
