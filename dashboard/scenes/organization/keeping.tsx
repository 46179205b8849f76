import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSignedIn } from '../../api/session.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Field, Form, type Typed } from '../../components/forms/form.tsx';
import { type RetentionField, RetentionFields, retentionOf } from '../../components/forms/retention.tsx';
import { SaveRow } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import {
  type LegalHold,
  legalHoldsQuery,
  type OrganizationProps,
  useLiftLegalHold,
  useSetLegalHold,
  useUpdateOrganization,
} from './queries.ts';

/** How long mail is kept in mailboxes without days of their own, and what is kept in spite of deletions. */
export function Keeping({ organization, mayChange }: OrganizationProps) {
  const isOwner = useSignedIn().organization?.role === 'owner';
  return (
    <>
      <Retention organization={organization} mayChange={mayChange} />
      {isOwner ? <LegalHolds /> : null}
    </>
  );
}

function Retention({ organization: { settings }, mayChange }: OrganizationProps) {
  const update = useUpdateOrganization();
  const [wrong, setWrong] = useState<RetentionField>();
  const [saved, setSaved] = useState(false);
  const submit = (typed: Typed) => {
    const retention = retentionOf(typed);
    if (typeof retention === 'string') {
      setWrong(retention);
      return;
    }
    setWrong(undefined);
    update.mutate({ settings: { retention } }, { onSuccess: () => setSaved(true) });
  };
  return (
    <Form
      aria-label="Retention"
      onSubmit={submit}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <div>
        <h2>Retention of mail</h2>
        <p className="text-muted">Older mail is deleted for good. A mailbox may have its own days.</p>
      </div>
      <ProblemNote error={update.error} />
      <RetentionFields retention={settings.retention} wrong={wrong} disabled={!mayChange} />
      {mayChange ? (
        <SaveRow done={saved ? 'Saved' : ''} busy={update.isPending}>
          Save the days
        </SaveRow>
      ) : null}
    </Form>
  );
}

function LegalHolds() {
  const holds = useQuery(legalHoldsQuery);
  const set = useSetLegalHold();
  const [lifting, setLifting] = useState<LegalHold>();
  const submit = (typed: Typed, form: HTMLFormElement) =>
    set.mutate({ reason: typed('reason').trim() }, { onSuccess: () => form.reset() });
  return (
    <section aria-labelledby="legal-holds" className="grid gap-4 rounded-lg border border-line bg-panel p-4">
      <div>
        <h2 id="legal-holds">Legal holds</h2>
        <p className="text-muted">
          As long as one applies, no content is deleted: not by retention or expiry, and deletions only hide messages.
          One mailbox alone is put on hold by the API.
        </p>
      </div>
      <Loaded query={holds}>
        {({ data }) => (
          <ul className="grid gap-2">
            {data.map((hold) => (
              <li key={hold.id} className="flex flex-wrap items-center gap-3 border-t border-line pt-2">
                <span className="min-w-0 flex-1 basis-64">
                  <span className="block font-medium break-words">{hold.reason}</span>
                  <span className="text-muted">
                    {hold.mailboxAddress ?? 'All mailboxes'}, <Time value={hold.createdAt} />, {hold.preservedMessages}{' '}
                    hidden messages kept
                  </span>
                </span>
                <Button look="stop" onClick={() => setLifting(hold)}>
                  Lift
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Form aria-label="New legal hold" onSubmit={submit} className="grid gap-3">
        <ProblemNote error={set.error} />
        <Field
          label="Reason of a hold for all mailboxes"
          name="reason"
          required
          maxLength={500}
          autoComplete="off"
          error={aboutField(set.error, '/reason')}
        />
        <SaveRow done="" busy={set.isPending}>
          Set the hold
        </SaveRow>
      </Form>
      {lifting === undefined ? null : <Lift hold={lifting} onClose={() => setLifting(undefined)} />}
    </section>
  );
}

function Lift({ hold, onClose }: { readonly hold: LegalHold; readonly onClose: () => void }) {
  const lift = useLiftLegalHold();
  return (
    <Confirm
      title="Lift the legal hold?"
      consequence="What was deleted meanwhile, and what no other hold keeps, is deleted for good within some hours."
      action="Lift the hold"
      cancel={false}
      change={lift}
      onConfirm={() => lift.mutate(hold.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
