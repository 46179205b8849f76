import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Secret } from '../../components/shown/secret.tsx';
import { type Member, useResetPassword } from './queries.ts';

/** Makes the link by which a member without a mailbox outside chooses a new password. */
export function ResetPassword({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const reset = useResetPassword();
  const url = reset.data?.resetUrl ?? null;
  return (
    <Dialog
      open
      onClose={onClose}
      keep={url !== null}
      title={`New password for ${member.name}`}
      description="For members who cannot get the link by mail themselves. Pass it on in a way that only this person sees."
    >
      <ProblemNote error={reset.error} />
      {url === null ? (
        <Button
          look="primary"
          className="justify-self-end"
          busy={reset.isPending}
          onClick={() => reset.mutate(member.id)}
        >
          Make the link
        </Button>
      ) : (
        <>
          <Secret
            label="Password link"
            value={url}
            note="It is shown this once and works once, within an hour. The password of today works until then."
          />
          <Button look="primary" className="justify-self-end" onClick={onClose}>
            Done
          </Button>
        </>
      )}
    </Dialog>
  );
}
