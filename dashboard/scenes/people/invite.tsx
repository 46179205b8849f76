import { type FormEvent, useState } from 'react';
import { Choice, Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Secret } from '../../components/shown/secret.tsx';
import { aboutField } from '../../problem.ts';
import { type NewInvitation, type Role, useInvite } from './queries.ts';
import { ROLES } from './roles.ts';

/** Asks for an address and a role, then says how the link reaches the person. */
export function Invite({
  mayInviteOwners,
  onClose,
}: {
  readonly mayInviteOwners: boolean;
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<NewInvitation>();
  const handOver = made?.acceptUrl ?? null;
  return (
    <Dialog
      open
      onClose={onClose}
      keep={handOver !== null}
      title={made === undefined ? 'Invite a person' : `Invitation for ${made.email}`}
    >
      {made === undefined ? <Form mayInviteOwners={mayInviteOwners} onMade={setMade} /> : null}
      {made === undefined ? null : handOver === null ? (
        <p>A link was sent to {made.email}. It can be used once, within a week.</p>
      ) : (
        <Secret
          label="Invitation link"
          value={handOver}
          note="No mail was sent, because agents may read that address or this service sends no mail. Hand the link over yourself, in a way that only this person sees. It is shown this once and can be used once, within a week."
        />
      )}
      {made === undefined ? null : (
        <Button look="primary" className="justify-self-end" onClick={onClose}>
          Done
        </Button>
      )}
    </Dialog>
  );
}

function Form({
  mayInviteOwners,
  onMade,
}: {
  readonly mayInviteOwners: boolean;
  readonly onMade: (made: NewInvitation) => void;
}) {
  const invite = useInvite();
  const [role, setRole] = useState<Role>('member');
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const email = textOfField(new FormData(event.currentTarget), 'email').trim();
    invite.mutate({ email, role }, { onSuccess: onMade });
  };
  const about = aboutField(invite.error, '/email');
  const choices = ROLES.filter(([each]) => each !== 'owner' || mayInviteOwners);
  return (
    <form onSubmit={submit} className="grid gap-4">
      {about === undefined ? <ProblemNote error={invite.error} /> : null}
      <Field label="Email" name="email" type="email" required autoComplete="off" error={about} />
      <Choice
        label="Role"
        value={role}
        onChange={(event) => setRole(choices.find(([each]) => each === event.target.value)?.[0] ?? 'member')}
        hint={choices.find(([each]) => each === role)?.[2]}
      >
        {choices.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </Choice>
      <Button type="submit" look="primary" className="justify-self-end" busy={invite.isPending}>
        Invite
      </Button>
    </form>
  );
}
