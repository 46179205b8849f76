import { useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Secret } from '../../components/shown/secret.tsx';
import { KeyForm } from './key-form.tsx';
import { type Key, type NewKey, useCreateKey, useUpdateKey } from './queries.ts';

/** Asks for name, scopes and expiration, then shows the key, once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateKey();
  const [made, setMade] = useState<NewKey>();
  return (
    <Dialog
      open
      onClose={onClose}
      keep={made !== undefined}
      title={made === undefined ? 'Create an API key' : made.name}
    >
      {made === undefined ? (
        <KeyForm
          action="Create key"
          busy={create.isPending}
          error={create.error}
          onSubmit={(input) =>
            create.mutate({ ...input, expiresAt: input.expiresAt ?? null }, { onSuccess: (key) => setMade(key) })
          }
        />
      ) : (
        <>
          <Secret
            label="API key"
            value={made.key ?? ''}
            note="It is shown this once. Send it as the header x-organization-key."
          />
          <Button look="primary" className="justify-self-end" onClick={onClose}>
            Done
          </Button>
        </>
      )}
    </Dialog>
  );
}

/** Changes what a key is called, may do and how long; the key itself stays. */
export function EditKey({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const update = useUpdateKey(row.id);
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Edit “${row.name}”`}
      description="The key itself stays, and programs that use it keep working. What its scopes allow changes at once."
    >
      <KeyForm
        row={row}
        action="Save"
        busy={update.isPending}
        error={update.error}
        onSubmit={({ name, scopes, mailboxGroups, expiresAt }) =>
          update.mutate(
            { name, scopes, mailboxGroups, ...(expiresAt === undefined ? {} : { expiresAt }) },
            { onSuccess: onClose },
          )
        }
      />
    </Dialog>
  );
}
