import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { percent } from './incidents.ts';
import { type Tenant, tenantsQuery, useEraseOrganization, useSuspension } from './queries.ts';
import { Table } from './table.tsx';

const rate = (count: number, of: number): string => (of === 0 ? '–' : percent(count / of));

/** Organizations with their figures of the last week. */
export function TenantsView() {
  const [cursor, setCursor] = useState<string | null>(null);
  const tenants = useQuery(tenantsQuery(cursor));
  const [asked, setAsked] = useState<{ readonly tenant: Tenant; readonly to: 'suspend' | 'resume' | 'delete' }>();
  return (
    <Loaded query={tenants}>
      {({ data, nextCursor }) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <Table
            label="Tenants"
            head={[
              ...['Organization', 'Plan', 'State', 'Actions', 'Mailboxes', 'Mail', 'Received', 'Sent', 'Bounces'],
              ...['Complaints', 'Webhooks waiting', 'Mail waiting'],
            ]}
            rows={data.map((tenant) => ({
              id: tenant.id,
              cells: [
                <div key="name" className="grid">
                  <span className="font-medium">{tenant.slug}</span>
                  <span className="font-mono text-xs text-muted">{tenant.id}</span>
                </div>,
                tenant.plan,
                tenant.suspendedAt === null ? (
                  <Badge key="state" meaning="ok">
                    Active
                  </Badge>
                ) : (
                  <Badge key="state" meaning="stop">
                    Suspended
                  </Badge>
                ),
                <div key="actions" className="flex gap-2">
                  {tenant.suspendedAt === null ? (
                    <Button aria-label={`Suspend ${tenant.slug}`} onClick={() => setAsked({ tenant, to: 'suspend' })}>
                      Suspend
                    </Button>
                  ) : (
                    <Button aria-label={`Resume ${tenant.slug}`} onClick={() => setAsked({ tenant, to: 'resume' })}>
                      Resume
                    </Button>
                  )}
                  <Button
                    look="stop"
                    aria-label={`Delete ${tenant.slug}`}
                    onClick={() => setAsked({ tenant, to: 'delete' })}
                  >
                    Delete
                  </Button>
                </div>,
                tenant.mailboxes,
                `${tenant.messages}, ${byteSize(tenant.storageBytes)}`,
                tenant.received,
                tenant.sent,
                rate(tenant.bounced, tenant.handedOver),
                rate(tenant.complained, tenant.handedOver),
                tenant.deliveriesWaiting,
                tenant.outgoingWaiting,
              ],
            }))}
          />
          <div className="flex gap-2">
            {cursor === null ? null : <Button onClick={() => setCursor(null)}>First page</Button>}
            {nextCursor === null ? null : <Button onClick={() => setCursor(nextCursor)}>Next page</Button>}
          </div>
          {asked?.to === 'delete' ? <Delete tenant={asked.tenant} onClose={() => setAsked(undefined)} /> : null}
          {asked?.to === 'suspend' || asked?.to === 'resume' ? (
            <Suspension tenant={asked.tenant} suspended={asked.to === 'suspend'} onClose={() => setAsked(undefined)} />
          ) : null}
        </div>
      )}
    </Loaded>
  );
}

interface AskedProps {
  readonly tenant: Tenant;
  readonly onClose: () => void;
}

function Suspension({ tenant, suspended, onClose }: AskedProps & { readonly suspended: boolean }) {
  const change = useSuspension();
  return (
    <Confirm
      title={suspended ? `Suspend ${tenant.name}?` : `Resume ${tenant.name}?`}
      consequence={
        suspended
          ? 'Its credentials are refused, nothing is sent, and mail to it is deferred. Nothing is deleted.'
          : 'Its credentials are valid again, and what waited goes on.'
      }
      action={suspended ? 'Suspend' : 'Resume'}
      look={suspended ? 'stop' : 'primary'}
      change={change}
      onConfirm={() => change.mutate({ id: tenant.id, suspended }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function Delete({ tenant, onClose }: AskedProps) {
  const erase = useEraseOrganization();
  return (
    <Confirm
      title={`Delete ${tenant.name}?`}
      consequence="Its mailboxes, mail, keys, webhooks and logs are erased. It cannot be undone. The erasure goes on in the background and ends with a signed receipt."
      action="Delete"
      typed={tenant.slug}
      change={erase}
      onConfirm={() => erase.mutate(tenant.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
