import { Badge, type Meaning } from './badge.tsx';

const STATES: Readonly<Record<string, readonly [Meaning, string]>> = {
  pending: ['wait', 'Pending'],
  verified: ['ok', 'Verified'],
  failed: ['wait', 'Records missing'],
};

export function DomainStatus({ status }: { readonly status: string }) {
  const [meaning, words] = STATES[status] ?? (['none', status] as const);
  return <Badge meaning={meaning}>{words}</Badge>;
}
