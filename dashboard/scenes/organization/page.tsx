import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useMayManage } from '../../api/session.ts';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { SaveRow } from '../../components/forms/save-row.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { aboutField } from '../../problem.ts';
import { ConsentRules } from './consent-rules.tsx';
import { type Organization, organizationQuery, useUpdateOrganization } from './queries.ts';
import { SendingLimits } from './sending-limits.tsx';

/** Name of the organization, when a person has to approve what agents send, and how much they may send. */
export function OrganizationPage() {
  const organization = useQuery(organizationQuery);
  const mayManage = useMayManage();
  return (
    <>
      <PageHead title="Organization" />
      {organization.isPending ? <Skeleton /> : null}
      {organization.isError ? (
        <ProblemNote error={organization.error} onRetry={() => void organization.refetch()} />
      ) : null}
      {organization.data === undefined ? null : (
        <div className="grid max-w-2xl gap-8">
          {mayManage ? null : <p className="text-muted">Admins and owners can change these settings.</p>}
          <Names organization={organization.data} mayChange={mayManage} />
          <ConsentRules organization={organization.data} mayChange={mayManage} />
          <SendingLimits organization={organization.data} mayChange={mayManage} />
        </div>
      )}
    </>
  );
}

function Names({ organization, mayChange }: { readonly organization: Organization; readonly mayChange: boolean }) {
  const update = useUpdateOrganization();
  const [saved, setSaved] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [name, slug] = [textOfField(form, 'name').trim(), textOfField(form, 'slug').trim()];
    update.mutate({ name, slug }, { onSuccess: () => setSaved(true) });
  };
  const problems = [aboutField(update.error, '/name'), aboutField(update.error, '/slug')] as const;
  return (
    <form
      aria-label="Name"
      onSubmit={submit}
      onChange={() => setSaved(false)}
      className="grid gap-4 rounded-lg border border-line bg-panel p-4"
    >
      <h2>Name</h2>
      {problems.every((problem) => problem === undefined) ? <ProblemNote error={update.error} /> : null}
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        disabled={!mayChange}
        defaultValue={organization.name}
        error={problems[0]}
      />
      <Field
        label="Short name"
        name="slug"
        required
        disabled={!mayChange}
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={organization.slug}
        error={problems[1]}
        hint="Events name the organization by it: lower-case letters, digits and hyphens."
      />
      {mayChange ? (
        <SaveRow saved={saved} busy={update.isPending}>
          Save the name
        </SaveRow>
      ) : null}
    </form>
  );
}
