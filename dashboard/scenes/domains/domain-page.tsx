import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure, PageHead, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { DnsRecords, DomainStatus, ZoneFileButton } from '../../components/shown/dns-records.tsx';
import { Time } from '../../components/shown/time.tsx';
import { CatchAllSection } from './catch-all.tsx';
import { DomainReportsSection } from './domain-reports.tsx';
import { type Domain, domainQuery, useDeleteDomain, useVerifyDomain } from './queries.ts';

const CHECKED_EVERY_MS = 60_000;

/** One domain with its records. While the page is open, DNS is checked every minute. */
export function DomainPage({ id }: { readonly id: string }) {
  const domain = useQuery(domainQuery(id));
  return (
    <>
      <p className="mb-1">
        <Link to="/domains">Domains</Link>
      </p>
      {domain.data !== undefined ? null : (
        <>
          <PageHead title="Domain" />
          {domain.isPending ? <Skeleton rows={6} /> : <Failure query={domain} />}
        </>
      )}
      {domain.data === undefined ? null : <Shown domain={domain.data} />}
    </>
  );
}

function Shown({ domain }: { readonly domain: Domain }) {
  const verify = useVerifyDomain(domain.id);
  const [deleting, setDeleting] = useState(false);
  const { mutate } = verify;
  useEffect(() => {
    mutate();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') mutate();
    }, CHECKED_EVERY_MS);
    return () => clearInterval(timer);
  }, [mutate]);
  const missing = domain.records.filter(({ required, status }) => required && status !== 'found').length;
  return (
    <>
      <PageHead title={domain.name} note={<DomainStatus status={domain.status} />}>
        <ZoneFileButton name={domain.name} zoneFile={domain.zoneFile} />
        <Button look="primary" busy={verify.isPending} onClick={() => mutate()}>
          <RefreshCw size={16} aria-hidden /> Check now
        </Button>
        <Button look="stop" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </PageHead>
      <div className="grid gap-3">
        <p className="text-muted" aria-live="polite">
          {missing === 0
            ? 'All required records are set: mailboxes of this domain receive and send mail. '
            : `Set these records at your name server. ${missing} required ${missing === 1 ? 'one is' : 'ones are'} not found yet. `}
          {domain.checkedAt === null ? (
            'DNS is checked every minute while this page is open.'
          ) : (
            <>
              Checked <Time value={domain.checkedAt} />, and again every minute while this page is open.
            </>
          )}
        </p>
        <ProblemNote error={verify.error} />
        <DnsRecords records={domain.records} />
      </div>
      {domain.status === 'verified' ? <CatchAllSection domain={domain} /> : null}
      <DomainReportsSection domain={domain.name} />
      {deleting ? <Delete domain={domain} onClose={() => setDeleting(false)} /> : null}
    </>
  );
}

function Delete({ domain, onClose }: { readonly domain: Domain; readonly onClose: () => void }) {
  const remove = useDeleteDomain(domain.id);
  const navigate = useNavigate();
  return (
    <Confirm
      title={`Delete ${domain.name}?`}
      consequence="Its signing key is destroyed, so its DKIM record is of no use any more. To use the domain again, add it and set new records. A domain that mailboxes use cannot be deleted."
      action="Delete the domain"
      typed={domain.name}
      change={remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/domains' }) })}
      onClose={onClose}
    />
  );
}
