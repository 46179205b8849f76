import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { organizationQuery, singleQuery } from '../../api/queries.ts';

export type Organization = Schemas['Organization'];
export type ConsentMode = Organization['settings']['outboundConsent'];
export type SendingMode = Organization['settings']['newMailboxSendingMode'];

/** What each form of the page is given. */
export interface OrganizationProps {
  readonly organization: Organization;
  readonly mayChange: boolean;
}

interface OrganizationChange {
  name?: string;
  slug?: string;
  settings?: Partial<Organization['settings']>;
}

export function useUpdateOrganization() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: OrganizationChange) => bodyOf(service.PATCH('/api/organization', { body })),
    onSuccess: (organization) => {
      queries.setQueryData(organizationQuery.queryKey, organization);
      return queries.invalidateQueries({ queryKey: ['session'] });
    },
  });
}

export type LegalHold = Schemas['LegalHold'];

export const legalHoldsQuery = singleQuery(['legal-holds'], () => bodyOf(service.GET('/api/legal-holds')));

function useChangeOfHolds<Input, Result>(change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: legalHoldsQuery.queryKey }),
  });
}

export const useSetLegalHold = () =>
  useChangeOfHolds((body: Schemas['NewLegalHold']) => bodyOf(service.POST('/api/legal-holds', { body })));

export const useLiftLegalHold = () =>
  useChangeOfHolds((id: string) => done(service.DELETE('/api/legal-holds/{id}', { params: { path: { id } } })));
