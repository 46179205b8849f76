import { queryOptions } from '@tanstack/react-query';
import { bodyOf, service } from './client.ts';

/** Counted up to here; beyond it "many" is all that anybody needs to know. */
const COUNTED_MAX = 99;

/** How many messages wait for a decision. */
export const waitingQuery = queryOptions({
  queryKey: ['consents', 'count'],
  queryFn: async () => {
    const page = await bodyOf(
      service.GET('/api/consents', { params: { query: { status: 'pending', limit: COUNTED_MAX } } }),
    );
    return { count: page.data.length, more: page.nextCursor !== null };
  },
});
