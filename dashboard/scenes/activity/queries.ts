import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { singleQuery } from '../../api/queries.ts';

export type ActivityTimeline = Schemas['ActivityTimeline'];
export type ActivityEntry = Schemas['ActivityEntry'];
export type ActivityMessage = Schemas['ActivityMessage'];
export type NotDelivered = Schemas['NotDelivered'];

/** @param q empty: nothing is asked */
export const activityQuery = (q: string) =>
  singleQuery(['activity', q], () => bodyOf(service.GET('/api/activity', { params: { query: { q } } })), {
    enabled: q !== '',
  });
