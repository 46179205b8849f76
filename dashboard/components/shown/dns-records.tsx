import { Download } from 'lucide-react';
import { Button } from '../frame/button.tsx';
import { type State, StateBadge } from './badge.tsx';
import { Copy } from './copy.tsx';
import { saveFile } from './save-file.ts';

interface DnsRecord {
  readonly purpose: string;
  readonly type: string;
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
  readonly status: 'pending' | 'found' | 'missing' | 'wrong';
  /** What DNS said at the last look. */
  readonly found: readonly string[];
}

const STATES: Readonly<Record<DnsRecord['status'], State>> = {
  pending: ['none', 'Not checked yet'],
  found: ['ok', 'Found'],
  missing: ['stop', 'Missing'],
  wrong: ['wait', 'Differs'],
};

const PURPOSES: Readonly<Record<string, string>> = {
  ownership: 'Shows that the domain is yours',
  mx: 'Routes its mail here',
  spf: 'Lets this service send its mail (SPF)',
  dkim: 'Lets receivers verify the signature (DKIM)',
  dmarc: 'Says what receivers do with forgeries (DMARC)',
  tls_rpt: 'Asks other hosts to report failed TLS (TLS-RPT)',
  imaps: 'Lets mail clients find IMAP',
  pop3s: 'Lets mail clients find POP3',
  submissions: 'Lets mail clients find SMTP',
  submission: 'Lets mail clients find SMTP with STARTTLS',
  mta_sts: 'Announces a policy for delivery by TLS (MTA-STS)',
  mta_sts_host: 'Serves that policy',
};

/** Saves all records as text for a name server. */
export function ZoneFileButton({ name, zoneFile }: { readonly name: string; readonly zoneFile: string }) {
  return (
    <Button onClick={() => saveFile(new Blob([zoneFile]), `${name}.zone`)}>
      <Download size={16} aria-hidden /> Zone file
    </Button>
  );
}

/** The DNS records of a domain: what each has to say, and what was found. */
export function DnsRecords({ records }: { readonly records: readonly DnsRecord[] }) {
  return (
    <ul aria-label="DNS records" className="rounded-lg border border-line bg-panel">
      {records.map((record) => (
        <RecordRow key={`${record.purpose} ${record.name}`} record={record} />
      ))}
    </ul>
  );
}

function RecordRow({ record }: { readonly record: DnsRecord }) {
  const { purpose, type, name, value, required, status, found } = record;
  return (
    <li className="grid gap-2 border-t border-line px-4 py-3 first:border-t-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{PURPOSES[purpose] ?? purpose}</span>
        <span className="text-muted">{required ? 'required' : 'recommended'}</span>
        <span className="flex-1" />
        <StateBadge of={STATES[status]} />
      </div>
      <dl className="grid grid-cols-[48px_minmax(0,1fr)_auto] items-center gap-x-3">
        <dt className="text-muted">Host</dt>
        <dd className="font-mono text-[13px] break-all">{name}</dd>
        <dd>
          <Copy text={name} what={`host of the ${purpose} record`} />
        </dd>
        <dt className="text-muted">{type}</dt>
        <dd className="font-mono text-[13px] break-all">{value}</dd>
        <dd>
          <Copy text={value} what={`value of the ${purpose} record`} />
        </dd>
        {status === 'wrong' ? (
          <>
            <dt className="self-start text-wait">Found</dt>
            <dd className="col-span-2 font-mono text-[13px] break-all text-wait">
              {found.length === 0 ? 'nothing' : found.map((each) => <div key={each}>{each}</div>)}
            </dd>
          </>
        ) : null}
      </dl>
    </li>
  );
}

const DOMAIN_STATES: Readonly<Record<string, State>> = {
  pending: ['wait', 'Pending'],
  verified: ['ok', 'Verified'],
  failed: ['wait', 'Records missing'],
};

export const DomainStatus = ({ status }: { readonly status: string }) => (
  <StateBadge of={DOMAIN_STATES[status]} word={status} />
);
