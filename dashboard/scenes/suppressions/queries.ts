import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, useChange } from '../../api/queries.ts';

export type Suppression = Schemas['Suppression'];
export type Reason = Suppression['reason'];

export interface SuppressionFilter {
  /** Only the entry of this address; empty: all. */
  readonly address: string;
  readonly reason: Reason | undefined;
}

const ADDRESS_MIN_CHARACTERS = 3;

export const suppressionsQuery = ({ address, reason }: SuppressionFilter) =>
  pagedQuery(['suppressions', address, reason ?? ''], (from) => {
    const of = address.length < ADDRESS_MIN_CHARACTERS ? {} : { address };
    const filter = { ...of, ...(reason === undefined ? {} : { reason }) };
    return bodyOf(service.GET('/api/suppressions', { params: { query: { ...filter, ...from } } }));
  });

export const useRemoveSuppression = () =>
  useChange(
    (id: string) => done(service.DELETE('/api/suppressions/{id}', { params: { path: { id } } })),
    ['suppressions'],
  );
