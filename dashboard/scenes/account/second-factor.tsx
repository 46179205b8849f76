import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Field, Form, Submit } from '../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { QrCode } from '../../components/shown/qr-code.tsx';
import { saveFile } from '../../components/shown/save-file.ts';
import { Time } from '../../components/shown/time.tsx';
import {
  type SecondFactor as Factor,
  secondFactorQuery,
  useBeginTotp,
  useConfirmTotp,
  useRemoveTotp,
  useRenewRecoveryCodes,
} from './queries.ts';

type Doing = 'add' | 'remove' | 'renew';

/** The authenticator app and the recovery codes of the account. */
export function SecondFactor() {
  const factor = useQuery(secondFactorQuery);
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  return (
    <Section
      title="Second factor"
      note="Beside the password, a code of an app on your phone is asked for when you sign in. Somebody who knows your password cannot sign in without it."
    >
      <Loaded query={factor} rows={1}>
        {(found) => <State factor={found} onDo={setDoing} />}
      </Loaded>
      {doing === 'add' ? <AddApp onClose={close} /> : null}
      {doing === 'remove' ? <RemoveApp onClose={close} /> : null}
      {doing === 'renew' ? <RenewCodes onClose={close} /> : null}
    </Section>
  );
}

const BOX = 'flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel p-4';

function State({ factor, onDo }: { readonly factor: Factor; readonly onDo: (doing: Doing) => void }) {
  const { totpSince, recoveryCodesLeft } = factor;
  if (totpSince === null)
    return (
      <div className={BOX}>
        <span className="min-w-0 flex-1 basis-48">No authenticator app.</span>
        <Button onClick={() => onDo('add')}>Add an authenticator app</Button>
      </div>
    );
  return (
    <div className={BOX}>
      <span className="min-w-0 flex-1 basis-48">
        Authenticator app, since <Time value={totpSince} />
        <span className="block text-muted">{recoveryCodesLeft} recovery codes left</span>
      </span>
      <Button onClick={() => onDo('renew')}>New recovery codes</Button>
      <Button look="stop" onClick={() => onDo('remove')}>
        Remove
      </Button>
    </div>
  );
}

interface Closing {
  readonly onClose: () => void;
}

/** Password, then the picture and a code of the app, then the recovery codes. */
function AddApp({ onClose }: Closing) {
  const { user } = useSignedIn();
  const begin = useBeginTotp();
  const confirm = useConfirmTotp();
  if (confirm.data !== undefined)
    return <Codes title="The second factor is on" codes={confirm.data.recoveryCodes} onClose={onClose} />;
  if (begin.data === undefined)
    return (
      <Dialog
        onClose={onClose}
        title="Add an authenticator app"
        description="Your other sessions end when it is added."
      >
        <Form onSubmit={(typed) => begin.mutate(typed('password'))}>
          <ProblemNote error={begin.error} />
          <input type="email" autoComplete="username" value={user.email} readOnly hidden />
          <Field label="Your password" name="password" type="password" required autoComplete="current-password" />
          <Submit busy={begin.isPending}>Go on</Submit>
        </Form>
      </Dialog>
    );
  const { secret, uri } = begin.data;
  return (
    <Dialog
      onClose={onClose}
      keep
      title="Add an authenticator app"
      description="Scan this with the app, or type the secret into it. Then enter the code that it shows."
    >
      <Form onSubmit={(typed) => confirm.mutate(typed('code').trim())}>
        {uri === null || secret === null ? (
          <p>The secret was shown before. Close this and begin again.</p>
        ) : (
          <>
            <QrCode text={uri} label="QR code for the authenticator app" />
            <Secret label="Secret" value={secret} note="For apps that cannot scan: time based, 6 digits." />
          </>
        )}
        <ProblemNote error={confirm.error} />
        <CodeField label="Code of the app" />
        <Submit busy={confirm.isPending}>Add the app</Submit>
      </Form>
    </Dialog>
  );
}

const CodeField = ({ label }: { readonly label: string }) => (
  <Field label={label} name="code" required autoComplete="one-time-code" autoCapitalize="none" />
);

function RemoveApp({ onClose }: Closing) {
  const remove = useRemoveTotp();
  return (
    <Dialog
      onClose={onClose}
      title="Remove the authenticator app?"
      description="From then on the password alone signs in. The recovery codes end too."
    >
      <Form onSubmit={(typed) => remove.mutate(typed('code').trim(), { onSuccess: onClose })}>
        <ProblemNote error={remove.error} />
        <CodeField label="Code of the app, or a recovery code" />
        <Button type="submit" look="stop" className="justify-self-end" busy={remove.isPending}>
          Remove the app
        </Button>
      </Form>
    </Dialog>
  );
}

function RenewCodes({ onClose }: Closing) {
  const renew = useRenewRecoveryCodes();
  if (renew.data !== undefined)
    return <Codes title="Your new recovery codes" codes={renew.data.recoveryCodes} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title="New recovery codes" description="The codes that you have now end.">
      <Form onSubmit={(typed) => renew.mutate(typed('code').trim())}>
        <ProblemNote error={renew.error} />
        <CodeField label="Code of the app, or a recovery code" />
        <Submit busy={renew.isPending}>Make new codes</Submit>
      </Form>
    </Dialog>
  );
}

interface CodesProps extends Closing {
  readonly title: string;
  readonly codes: readonly string[] | null;
}

function Codes({ title, codes, onClose }: CodesProps) {
  return (
    <Dialog
      onClose={onClose}
      keep
      title={title}
      description="With a recovery code you sign in without the app, if you lose the phone. Each works once."
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
