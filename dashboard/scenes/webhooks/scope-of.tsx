import { useQuery } from '@tanstack/react-query';
import { mailboxQuery } from './queries.ts';

/** What an endpoint is about: the organization, or a mailbox by its address. */
export function ScopeOf({ mailboxId }: { readonly mailboxId: string | null }) {
  const mailbox = useQuery({ ...mailboxQuery(mailboxId ?? ''), enabled: mailboxId !== null });
  if (mailboxId === null) return <>whole organization</>;
  return <>{mailbox.data?.address ?? 'one mailbox'}</>;
}
