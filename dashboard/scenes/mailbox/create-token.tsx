import { type FormEvent, useState } from 'react';
import { Expiration, expiryOf } from '../../components/forms/expiration.tsx';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Secret } from '../../components/shown/secret.tsx';
import { aboutField } from '../../problem.ts';
import { type Mailbox, type NewToken, useCreateToken } from './queries.ts';
import { ACCESSES } from './token-access.ts';

/** Asks for name, access and expiration, then shows the token, once. */
export function CreateToken({ mailbox, onClose }: { readonly mailbox: Mailbox; readonly onClose: () => void }) {
  const create = useCreateToken(mailbox.id);
  const [made, setMade] = useState<NewToken>();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const access = ACCESSES.find(([each]) => each === textOfField(form, 'access'))?.[0] ?? 'full';
    const body = { name: textOfField(form, 'name').trim(), access, expiresAt: expiryOf(form, Date.now()) ?? null };
    create.mutate(body, { onSuccess: setMade });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      keep={made !== undefined}
      title={made === undefined ? 'Create a token' : made.name}
      {...(made === undefined ? { description: `For another program that opens ${mailbox.address}.` } : {})}
    >
      {made === undefined ? (
        <form onSubmit={submit} className="grid gap-4">
          <ProblemNote error={create.error} />
          <Field
            label="Name"
            name="name"
            required
            maxLength={100}
            autoComplete="off"
            error={aboutField(create.error, '/name')}
            hint="Say which program uses it, so that you recognize it later."
          />
          <fieldset className="grid gap-2">
            <legend className="mb-1 font-medium">Access</legend>
            {ACCESSES.map(([access, title, sentence]) => (
              <label key={access} className="flex items-start gap-2 max-sm:py-1">
                <input
                  type="radio"
                  name="access"
                  value={access}
                  defaultChecked={access === 'full'}
                  className="mt-0.5 size-4 accent-(--accent)"
                />
                <span>
                  {title} <span className="text-muted">{sentence}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <Expiration mayStay={false} error={aboutField(create.error, '/expiresAt')} />
          <Button type="submit" look="primary" className="justify-self-end" busy={create.isPending}>
            Create token
          </Button>
        </form>
      ) : (
        <>
          <Secret
            label="Mailbox token"
            value={made.token ?? ''}
            note={`It is shown this once. For mail clients it is the password of ${mailbox.address}.`}
          />
          <Button look="primary" className="justify-self-end" onClick={onClose}>
            Done
          </Button>
        </>
      )}
    </Dialog>
  );
}
