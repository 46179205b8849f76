import { useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Field, Form, Submit } from '../../components/forms/form.tsx';
import { DoneButton } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { Time } from '../../components/shown/time.tsx';
import { Codes, ProofForm } from './proof.tsx';
import { type Passkey, useAddPasskey, useRemovePasskey } from './queries.ts';

const NAME_MAX_CHARACTERS = 60;

interface PasskeysProps {
  readonly passkeys: readonly Passkey[];
  /** Where passkeys work; null: nowhere. */
  readonly origin: string | null;
}

/** The passkeys of the account: each signs in alone. */
export function Passkeys({ passkeys, origin }: PasskeysProps) {
  const [doing, setDoing] = useState<'add' | Passkey>();
  const close = () => setDoing(undefined);
  return (
    <>
      <SteadyList
        label="Passkeys"
        answer={passkeys}
        rows={passkeys}
        empty={<p className="rounded-lg border border-line bg-panel p-4">No passkeys.</p>}
      >
        {(passkey) => <PasskeyRow passkey={passkey} onRemove={() => setDoing(passkey)} />}
      </SteadyList>
      <AddButton origin={origin} onAdd={() => setDoing('add')} />
      {doing === 'add' ? <AddPasskey onClose={close} /> : null}
      {typeof doing === 'object' ? <RemovePasskey passkey={doing} onClose={close} /> : null}
    </>
  );
}

function AddButton({ origin, onAdd }: { readonly origin: string | null; readonly onAdd: () => void }) {
  if (origin === null)
    return <p className="text-muted">Passkeys need an address of this service with a name and https.</p>;
  if (origin !== location.origin)
    return (
      <p className="text-muted">
        Passkeys belong to <a href={`${origin}/settings/account`}>{origin}</a>: open this page there to add one.
      </p>
    );
  return (
    <Button className="justify-self-start" onClick={onAdd}>
      Add a passkey
    </Button>
  );
}

function PasskeyRow({ passkey, onRemove }: { readonly passkey: Passkey; readonly onRemove: () => void }) {
  const { name, createdAt, lastUsedAt } = passkey;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <span className="min-w-0 flex-1 basis-48">
        <span className="block font-medium break-words">{name}</span>
        <span className="block text-muted">
          added <Time value={createdAt} />,{' '}
          {lastUsedAt === null ? (
            'not used yet'
          ) : (
            <>
              used <Time value={lastUsedAt} />
            </>
          )}
        </span>
      </span>
      <Button aria-label={`Remove the passkey ${name}`} onClick={onRemove}>
        Remove
      </Button>
    </div>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { user } = useSignedIn();
  const add = useAddPasskey();
  if (add.data !== undefined)
    return add.data.recoveryCodes === null ? (
      <Dialog onClose={onClose} title="The passkey is added" description="The recovery codes that you have stay valid.">
        <DoneButton onClick={onClose} />
      </Dialog>
    ) : (
      <Codes title="The passkey is added" codes={add.data.recoveryCodes} onClose={onClose} />
    );
  return (
    <Dialog
      onClose={onClose}
      title="Add a passkey"
      description="Your browser asks where to keep it: on this device, on a phone, or on a security key. If it is your first second factor, your other sessions end."
    >
      <Form onSubmit={(typed) => add.mutate({ name: typed('name').trim(), password: typed('password') })}>
        <ProblemNote error={add.error} />
        <Field label="Name" name="name" required maxLength={NAME_MAX_CHARACTERS} hint="By which you recognize it." />
        <input type="email" autoComplete="username" value={user.email} readOnly hidden />
        <Field label="Your password" name="password" type="password" required autoComplete="current-password" />
        <Submit busy={add.isPending}>Go on</Submit>
      </Form>
    </Dialog>
  );
}

function RemovePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const remove = useRemovePasskey(passkey.id);
  return (
    <Dialog
      onClose={onClose}
      title={`Remove the passkey ${passkey.name}?`}
      description="It signs in no more. With your last second factor the recovery codes end too."
    >
      <ProofForm
        change={remove}
        hasPasskeys
        onProof={(proof) => remove.mutate(proof, { onSuccess: onClose })}
        look="stop"
      >
        Remove the passkey
      </ProofForm>
    </Dialog>
  );
}
