import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Facts } from '../../components/shown/facts.tsx';
import { Time } from '../../components/shown/time.tsx';
import { useDecideDevice, useLookAtDevice } from './queries.ts';

/** Signs a terminal in: the person enters its code, sees which program asks, and decides. */
export function DevicePage() {
  const look = useLookAtDevice();
  const decide = useDecideDevice();
  const userCode = look.variables ?? '';
  const approve = (yes: boolean): void => decide.mutate({ userCode, approve: yes });
  return (
    <div className="grid max-w-lg gap-5">
      <PageHead title="Sign in a device" />
      {decide.isSuccess ? (
        <p role="status">
          {decide.variables.approve
            ? 'The device is signed in. Go back to it. You can end its session under Settings, Account.'
            : 'The device was refused. It is not signed in.'}
        </p>
      ) : look.data === undefined ? (
        <Form onSubmit={(typed) => look.mutate(typed('code'))}>
          <p>Enter the code that your terminal shows.</p>
          <ProblemNote error={look.error} />
          <Field label="Code" name="code" required autoComplete="off" autoCapitalize="characters" spellCheck={false} />
          <div>
            <Button type="submit" look="primary" busy={look.isPending}>
              Continue
            </Button>
          </div>
        </Form>
      ) : (
        <section aria-label="The device" className="grid gap-4">
          <Facts
            facts={[
              ['Calls itself', <ForeignText key="name" text={look.data.name} />],
              ['Address', look.data.ipAddress ?? 'unknown'],
              ['Asked', <Time key="asked" value={look.data.createdAt} />],
            ]}
          />
          <p>
            Sign it in only if you started this on your own device just now. It gets all your rights, including
            approving mail. If somebody sent you the code, refuse.
          </p>
          <ProblemNote error={decide.error} />
          <div className="flex flex-wrap gap-3">
            <Button look="primary" busy={decide.isPending} onClick={() => approve(true)}>
              Sign it in
            </Button>
            <Button look="stop" busy={decide.isPending} onClick={() => approve(false)}>
              Refuse
            </Button>
          </div>
        </section>
      )}
    </div>
  );
}
