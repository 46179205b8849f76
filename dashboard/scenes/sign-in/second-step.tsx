import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { useSecondStep } from './queries.ts';

interface SecondStepProps {
  /** Null: it was shown before, to a request whose answer was lost. */
  readonly challenge: string | null;
  /** The account has passkeys. */
  readonly passkey: boolean;
  /** Of the account. */
  readonly email: string;
  readonly onDone: () => void;
  /** Asks for the password again. */
  readonly onRestart: () => void;
}

/** After the password, in an account with a second factor. */
export function SecondStep({ challenge, passkey, email, onDone, onRestart }: SecondStepProps) {
  const answer = useSecondStep(email);
  return (
    <EntryFrame
      title={passkey ? 'Confirm that it is you' : 'Enter a code'}
      note={
        passkey
          ? 'The password is right. Use your passkey, or enter a code of your authenticator app or a recovery code.'
          : 'The password is right. Enter the code that your authenticator app shows now, or one of your recovery codes.'
      }
      below="Lost them? Ask an owner of your organization, or the operator of the service."
    >
      <ProblemNote error={answer.error} />
      {passkey ? (
        <Button
          look="primary"
          busy={answer.isPending}
          onClick={() => answer.mutate({ challenge: challenge ?? '', code: null }, { onSuccess: onDone })}
        >
          Use a passkey
        </Button>
      ) : null}
      <Form
        onSubmit={(typed) =>
          answer.mutate({ challenge: challenge ?? '', code: typed('code').trim() }, { onSuccess: onDone })
        }
      >
        <Field
          label="Code"
          name="code"
          autoComplete="one-time-code"
          autoCapitalize="none"
          required
          autoFocus={!passkey}
        />
        <Button type="submit" {...(passkey ? {} : { look: 'primary' })} busy={answer.isPending}>
          Sign in
        </Button>
        <Button onClick={onRestart}>Start again</Button>
      </Form>
    </EntryFrame>
  );
}
