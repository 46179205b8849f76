import { queryOptions } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { pagedQuery } from '../../api/queries.ts';

export type AuditEntry = Schemas['AuditEntry'];
type AuditAction = AuditEntry['action'];

/** The filters in the address. Days are `YYYY-MM-DD`, in the zone of the reader. */
export interface AuditFilter {
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
  readonly from?: string;
  readonly until?: string;
}

const DAY_MS = 86_400_000;
const FILE_PAGE = 200;
/** Rows of a file; more is for a program with an API key. */
const FILE_ROWS_MAX = 10_000;

const startOfDay = (day: string): number => new Date(`${day}T00:00:00`).getTime();

function parametersOf({ action, actor, target, from, until }: AuditFilter) {
  const [first, last] = [from && startOfDay(from), until && startOfDay(until)];
  return {
    // The service says so when there is no such action.
    ...(action ? { action: action as AuditAction } : {}),
    ...(actor ? { actorId: actor } : {}),
    ...(target ? { targetId: target } : {}),
    ...(typeof first === 'number' && !Number.isNaN(first) ? { since: new Date(first).toISOString() } : {}),
    ...(typeof last === 'number' && !Number.isNaN(last) ? { until: new Date(last + DAY_MS).toISOString() } : {}),
  };
}

const page = (filter: AuditFilter, from: { readonly limit?: number; readonly cursor?: string }) =>
  bodyOf(service.GET('/api/audit', { params: { query: { ...parametersOf(filter), ...from } } }));

export const auditQuery = (filter: AuditFilter) => pagedQuery(['audit', filter], (from) => page(filter, from));

/** All entries of a filter, newest first, up to {@link FILE_ROWS_MAX}. */
export async function allEntries(filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let cursor: string | null = '';
  do {
    const from = { limit: FILE_PAGE, ...(cursor === '' ? {} : { cursor }) };
    const body: Schemas['AuditEntryList'] = await page(filter, from);
    entries.push(...body.data);
    cursor = body.nextCursor;
  } while (cursor !== null && entries.length < FILE_ROWS_MAX);
  return entries.slice(0, FILE_ROWS_MAX);
}

/** Members, by whom the entries can be filtered. */
export const peopleQuery = queryOptions({
  queryKey: ['people', 'names'],
  queryFn: async () => (await bodyOf(service.GET('/api/members', { params: { query: { limit: 200 } } }))).data,
  staleTime: 60_000,
});
