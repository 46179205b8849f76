import { queryOptions } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type ActivityResult = Schemas['ActivityResult'];
export type ActivityTimeline = Schemas['ActivityTimeline'];
export type ActivityEntry = Schemas['ActivityEntry'];
export type ActivityMessage = Schemas['ActivityMessage'];

/** @param q empty: nothing is asked */
export const activityQuery = (q: string) =>
  queryOptions({
    queryKey: ['activity', q],
    queryFn: () => bodyOf(service.GET('/api/activity', { params: { query: { q } } })),
    enabled: q !== '',
  });
