import type { ReactNode } from 'react';
import { Field, Form } from '../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { saveFile } from '../../components/shown/save-file.ts';
import type { Proof } from './queries.ts';

export const CodeField = ({ label }: { readonly label: string }) => (
  <Field label={label} name="code" required autoComplete="one-time-code" autoCapitalize="none" />
);

interface ProofFormProps {
  readonly change: { readonly error: unknown; readonly isPending: boolean };
  readonly hasPasskeys: boolean;
  readonly onProof: (proof: Proof) => void;
  readonly look?: 'primary' | 'stop';
  /** What the button does. */
  readonly children: ReactNode;
}

/** Proves a change of the second factors, by a code or by a passkey. */
export function ProofForm({ change, hasPasskeys, onProof, look = 'primary', children }: ProofFormProps) {
  return (
    <Form onSubmit={(typed) => onProof(typed('code').trim())}>
      <ProblemNote error={change.error} />
      <CodeField label="Code of the app, or a recovery code" />
      <div className="flex flex-wrap justify-end gap-2">
        {hasPasskeys ? (
          <Button busy={change.isPending} onClick={() => onProof(null)}>
            Confirm by passkey
          </Button>
        ) : null}
        <Button type="submit" look={look} busy={change.isPending}>
          {children}
        </Button>
      </div>
    </Form>
  );
}

interface CodesProps {
  readonly title: string;
  readonly codes: readonly string[] | null;
  readonly onClose: () => void;
}

/** New recovery codes. */
export function Codes({ title, codes, onClose }: CodesProps) {
  return (
    <Dialog
      onClose={onClose}
      keep
      title={title}
      description="With a recovery code you sign in without app and passkey, if you lose them. Each works once."
    >
      {codes === null ? (
        <p>The codes were shown before. Make new ones.</p>
      ) : (
        <>
          <Secret
            label="Recovery codes"
            value={codes.join(' ')}
            note="Store them apart from the phone. They are shown this once."
          />
          <Button
            className="justify-self-start"
            onClick={() => saveFile(new Blob([`${codes.join('\n')}\n`]), 'agent-mailbox-recovery-codes.txt')}
          >
            Save as a file
          </Button>
        </>
      )}
      <DoneButton onClick={onClose} />
    </Dialog>
  );
}
