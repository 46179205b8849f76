import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useAttempt } from '../../api/queries.ts';

export type HeldMail = Schemas['HeldMail'];
export type Decision = Schemas['HeldMailDecision']['decision'];

export const heldMailQuery = (state: HeldMail['state']) =>
  pagedQuery(['held-mail', state], (from) =>
    bodyOf(service.GET('/api/held-mail', { params: { query: { state, ...from } } })),
  );

export const oneHeldMailQuery = (id: string) =>
  singleQuery(['held-mail', 'one', id], () => bodyOf(service.GET('/api/held-mail/{id}', { params: { path: { id } } })));

export const useDecideHeldMail = () =>
  useAttempt(
    ({ id, decision }: { readonly id: string; readonly decision: Decision }) =>
      bodyOf(service.POST('/api/held-mail/{id}/decide', { params: { path: { id } }, body: { decision } })),
    ['held-mail'],
  );
