import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { FormEvent } from 'react';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { PagedList } from '../../components/lists/paged-list.tsx';
import { DnsRecords, ZoneFileButton } from '../../components/shown/dns-records.tsx';
import { DomainStatus } from '../../components/shown/domain-status.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import { type Domain, defaultDomainQuery, domainsQuery, useAddDomain } from './queries.ts';

/** Own domains of the organization, and the one of the instance. */
export function DomainsPage() {
  const [adding, setAdding] = useAddInAddress();
  const list = useInfiniteQuery(domainsQuery);
  return (
    <>
      <PageHead title="Domains">
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={16} aria-hidden /> Add domain
        </Button>
      </PageHead>
      <PagedList
        label="Domains"
        query={list}
        empty={
          <Empty title="No domains yet">
            <p>
              Mailboxes have addresses at the domain of this service. To use your own domain, add it and set its DNS
              records. The service then verifies it automatically.
            </p>
            <Button look="primary" onClick={() => setAdding(true)}>
              Add the first domain
            </Button>
          </Empty>
        }
      >
        {(domain) => <DomainRow domain={domain} />}
      </PagedList>
      <DefaultDomain />
      {adding ? <AddDomain onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function DomainRow({ domain }: { readonly domain: Domain }) {
  const { id, name, status, records, checkedAt } = domain;
  const missing = records.filter((record) => record.required && record.status !== 'found').length;
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,2fr)_120px_minmax(0,1.4fr)_120px]">
      <Link to="/domains/$id" params={{ id }} className="truncate font-medium">
        {name}
      </Link>
      <div>
        <DomainStatus status={status} />
      </div>
      <div className="text-muted">
        {status === 'verified' && missing === 0
          ? 'all required records found'
          : `${missing} required ${missing === 1 ? 'record' : 'records'} to set`}
      </div>
      <div className="text-muted sm:text-right">
        {checkedAt === null ? 'not checked yet' : <Time value={checkedAt} />}
      </div>
    </div>
  );
}

function DefaultDomain() {
  const domain = useQuery(defaultDomainQuery);
  return (
    <section aria-labelledby="default-domain" className="mt-8 grid gap-3">
      <div>
        <h2 id="default-domain">The domain of this service</h2>
        <p className="text-muted">
          Every organization has mailboxes in it. The operator of the service sets its records. Without them, other
          hosts cannot deliver mail to it and do not trust mail from it.
        </p>
      </div>
      {domain.isPending ? <Skeleton /> : null}
      {domain.isError ? <ProblemNote error={domain.error} onRetry={() => void domain.refetch()} /> : null}
      {domain.data === undefined ? null : (
        <details className="grid gap-3">
          <summary className="mb-2 cursor-pointer">
            <span className="font-medium">{domain.data.name}</span>{' '}
            <span className="text-muted">{summaryOf(domain.data.records)}</span>
          </summary>
          <div className="grid gap-3">
            <div>
              <ZoneFileButton name={domain.data.name} zoneFile={domain.data.zoneFile} />
            </div>
            <DnsRecords records={domain.data.records} />
          </div>
        </details>
      )}
    </section>
  );
}

function summaryOf(records: Domain['records']): string {
  const found = records.filter(({ status }) => status === 'found').length;
  return `${found} of ${records.length} records found`;
}

function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const add = useAddDomain();
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const name = textOfField(new FormData(event.currentTarget), 'name').trim();
    add.mutate(name, { onSuccess: ({ id }) => void navigate({ to: '/domains/$id', params: { id } }) });
  };
  const about = aboutField(add.error, '/name');
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add a domain"
      description="The next page shows the DNS records to set. Mailboxes can be created right away and become active when the domain is verified."
    >
      <form onSubmit={submit} className="grid gap-4">
        {about === undefined ? <ProblemNote error={add.error} /> : null}
        <Field
          label="Domain"
          name="name"
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="agents.example.com"
          error={about}
          hint="Its mail will be delivered here. If the domain already gets mail elsewhere, use a subdomain."
        />
        <Button type="submit" look="primary" className="justify-self-end" busy={add.isPending}>
          Add domain
        </Button>
      </form>
    </Dialog>
  );
}
