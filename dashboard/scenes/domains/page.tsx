import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Field, Form, Submit } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { DnsRecords, DomainStatus, ZoneFileButton } from '../../components/shown/dns-records.tsx';
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
    <Section
      title="The domain of this service"
      note="Every organization has mailboxes in it. The operator of the service sets its records. Without them, other hosts cannot deliver mail to it and do not trust mail from it."
      className="mt-8 grid gap-3"
    >
      <Loaded query={domain}>
        {({ name, zoneFile, records }) => (
          <details className="grid gap-3">
            <summary className="mb-2 cursor-pointer">
              <span className="font-medium">{name}</span> <span className="text-muted">{summaryOf(records)}</span>
            </summary>
            <div className="grid gap-3">
              <div>
                <ZoneFileButton name={name} zoneFile={zoneFile} />
              </div>
              <DnsRecords records={records} />
            </div>
          </details>
        )}
      </Loaded>
    </Section>
  );
}

function summaryOf(records: Domain['records']): string {
  const found = records.filter(({ status }) => status === 'found').length;
  return `${found} of ${records.length} records found`;
}

function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const add = useAddDomain();
  const navigate = useNavigate();
  const about = aboutField(add.error, '/name');
  return (
    <Dialog
      onClose={onClose}
      title="Add a domain"
      description="The next page shows the DNS records to set. Mailboxes can be created right away and become active when the domain is verified."
    >
      <Form
        onSubmit={(typed) =>
          add.mutate(typed('name').trim(), {
            onSuccess: ({ id }) => void navigate({ to: '/domains/$id', params: { id } }),
          })
        }
      >
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
        <Submit busy={add.isPending}>Add domain</Submit>
      </Form>
    </Dialog>
  );
}
