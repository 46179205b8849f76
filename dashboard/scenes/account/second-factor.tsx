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
import { Time } from '../../components/shown/time.tsx';
import { Passkeys } from './passkeys.tsx';
import { CodeField, Codes, ProofForm } from './proof.tsx';
import {
  type SecondFactor as Factor,
  passkeysQuery,
  secondFactorQuery,
  useBeginTotp,
  useConfirmTotp,
  useRemoveTotp,
  useRenewRecoveryCodes,
} from './queries.ts';

type Doing = 'add' | 'remove' | 'renew';

/** The authenticator app, the passkeys and the recovery codes of the account. */
export function SecondFactor() {
  const factor = useQuery(secondFactorQuery);
  const passkeys = useQuery(passkeysQuery);
  const has = (passkeys.data?.data.length ?? 0) > 0;
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  return (
    <Section
      title="Second factor"
      note="Beside the password, a passkey or a code of an app on your phone is asked for when you sign in. Somebody who knows your password cannot sign in without it. A passkey signs in without the password too."
    >
      <Loaded query={passkeys} rows={1}>
        {({ data, origin }) => <Passkeys passkeys={data} origin={origin} />}
      </Loaded>
      <Loaded query={factor} rows={1}>
        {(found) => <State factor={found} hasPasskeys={has} onDo={setDoing} />}
      </Loaded>
      {doing === 'add' ? <AddApp onClose={close} /> : null}
      {doing === 'remove' ? <RemoveApp hasPasskeys={has} onClose={close} /> : null}
      {doing === 'renew' ? <RenewCodes hasPasskeys={has} onClose={close} /> : null}
    </Section>
  );
}

const BOX = 'flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel p-4';

interface StateProps {
  readonly factor: Factor;
  readonly hasPasskeys: boolean;
  readonly onDo: (doing: Doing) => void;
}

function State({ factor, hasPasskeys, onDo }: StateProps) {
  const { totpSince, recoveryCodesLeft } = factor;
  const hasFactor = totpSince !== null || hasPasskeys;
  return (
    <div className={BOX}>
      <span className="min-w-0 flex-1 basis-48">
        {totpSince === null ? (
          'No authenticator app.'
        ) : (
          <>
            Authenticator app, since <Time value={totpSince} />
          </>
        )}
        {hasFactor ? <span className="block text-muted">{recoveryCodesLeft} recovery codes left</span> : null}
      </span>
      {hasFactor ? <Button onClick={() => onDo('renew')}>New recovery codes</Button> : null}
      {totpSince === null ? (
        <Button onClick={() => onDo('add')}>Add an authenticator app</Button>
      ) : (
        <Button look="stop" onClick={() => onDo('remove')}>
          Remove
        </Button>
      )}
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
  if (confirm.data !== undefined && confirm.data.recoveryCodes === null)
    return (
      <Dialog onClose={onClose} title="The app is on" description="The recovery codes that you have stay valid.">
        <DoneButton onClick={onClose} />
      </Dialog>
    );
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

function RemoveApp({ hasPasskeys, onClose }: Closing & { readonly hasPasskeys: boolean }) {
  const remove = useRemoveTotp();
  return (
    <Dialog
      onClose={onClose}
      title="Remove the authenticator app?"
      description={
        hasPasskeys
          ? 'From then on a passkey or a recovery code is asked for after the password.'
          : 'From then on the password alone signs in. The recovery codes end too.'
      }
    >
      <ProofForm
        change={remove}
        hasPasskeys={hasPasskeys}
        onProof={(proof) => remove.mutate(proof, { onSuccess: onClose })}
        look="stop"
      >
        Remove the app
      </ProofForm>
    </Dialog>
  );
}

function RenewCodes({ hasPasskeys, onClose }: Closing & { readonly hasPasskeys: boolean }) {
  const renew = useRenewRecoveryCodes();
  if (renew.data !== undefined)
    return <Codes title="Your new recovery codes" codes={renew.data.recoveryCodes} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title="New recovery codes" description="The codes that you have now end.">
      <ProofForm change={renew} hasPasskeys={hasPasskeys} onProof={(proof) => renew.mutate(proof)}>
        Make new codes
      </ProofForm>
    </Dialog>
  );
}
