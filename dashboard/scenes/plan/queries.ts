import { queryOptions } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';

export type Usage = Schemas['Usage'];
export type UsageDay = Usage['days'][number];

const DAY_MS = 86_400_000;

/** @param days up to today, in UTC */
export const usageQuery = (days: number) =>
  queryOptions({
    queryKey: ['usage', days],
    queryFn: () => {
      const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
      return bodyOf(service.GET('/api/usage', { params: { query: { from } } }));
    },
    staleTime: 60_000,
  });
