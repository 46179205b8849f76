/**
 * Requests of operators. Their key is in the memory of this page alone: no storage, no cookie, so a reload asks for it
 * again, and no other page can make the browser send it.
 */
import createClient, { type Middleware } from 'openapi-fetch';
import { bodyOf, done, type Schemas } from '../../api/client.ts';
import type { paths } from '../../api/openapi.ts';
import { singleQuery, useChange } from '../../api/queries.ts';

export type Overview = Schemas['OperatorOverview'];
export type Finding = Schemas['OperatorFinding'];
export type Tenant = Schemas['Tenant'];
export type QueuedMail = Schemas['OperatorQueuedMail'];
export type QueueAction = 'hold' | 'release' | 'retry' | 'drop';

let key = '';

const sendKey: Middleware = {
  onRequest({ request }) {
    request.headers.set('x-operator-key', key);
    return request;
  },
};

const operator = createClient<paths>({ credentials: 'omit' });
operator.use(sendKey);

/** What an operator sees does not stay in the memory of the browser. */
const UNSEEN = { gcTime: 0, staleTime: 5_000 };

/** Tries a key, and keeps it if the service takes it. */
export const useOperatorKey = () =>
  useChange(
    async (typed: string) => {
      const before = key;
      key = typed;
      try {
        return await bodyOf(operator.GET('/api/operator/overview'));
      } catch (error) {
        key = before;
        throw error;
      }
    },
    ['operator'],
  );

export const forgetOperatorKey = (): void => {
  key = '';
};

export const overviewQuery = {
  ...singleQuery(['operator', 'overview'], () => bodyOf(operator.GET('/api/operator/overview')), UNSEEN),
  refetchInterval: 30_000,
};

export const findingsQuery = singleQuery(
  ['operator', 'findings'],
  () => bodyOf(operator.GET('/api/operator/findings')),
  { ...UNSEEN, refetchOnWindowFocus: false },
);

export const tenantsQuery = (cursor: string | null) =>
  singleQuery(
    ['operator', 'tenants', cursor],
    () => bodyOf(operator.GET('/api/operator/organizations', { params: { query: cursor === null ? {} : { cursor } } })),
    UNSEEN,
  );

export const queueQuery = (to: string) =>
  singleQuery(
    ['operator', 'queue', to],
    () => bodyOf(operator.GET('/api/operator/queue', { params: { query: to === '' ? {} : { to } } })),
    UNSEEN,
  );

export const foundMailQuery = (about: string) =>
  singleQuery(
    ['operator', 'mail', about],
    () => bodyOf(operator.GET('/api/operator/mail', { params: { query: { about } } })),
    { ...UNSEEN, enabled: about !== '' },
  );

export const usesQuery = singleQuery(
  ['operator', 'uses'],
  () => bodyOf(operator.GET('/api/operator/uses', { params: { query: { limit: 100 } } })),
  UNSEEN,
);

export const erasuresQuery = {
  ...singleQuery(
    ['operator', 'erasures'],
    () => bodyOf(operator.GET('/api/operator/erasures', { params: { query: {} } })),
    UNSEEN,
  ),
  refetchInterval: 5_000,
};

export const useControlQueue = () =>
  useChange(
    ({ id, action }: { readonly id: string; readonly action: QueueAction }) =>
      bodyOf(
        operator.PUT('/api/operator/queue', {
          body: { action, about: id, ...(action === 'drop' ? { yes: true as const } : {}) },
        }),
      ),
    ['operator'],
  );

export const useSuspension = () =>
  useChange(
    ({ id, suspended }: { readonly id: string; readonly suspended: boolean }) =>
      bodyOf(
        operator.PUT('/api/organization/suspension', {
          headers: { 'x-organization-id': id },
          body: { suspended },
        }),
      ),
    ['operator'],
  );

export const useEraseOrganization = () =>
  useChange(
    (id: string) =>
      bodyOf(operator.POST('/api/operator/erasures', { body: { kind: 'organization', subject: id, yes: true } })),
    ['operator'],
  );

export type Move = Schemas['OperatorMove'];

export const movesQuery = {
  ...singleQuery(
    ['operator', 'moves'],
    () => bodyOf(operator.GET('/api/operator/moves', { params: { query: {} } })),
    UNSEEN,
  ),
  refetchInterval: 5_000,
};

export const useExport = () =>
  useChange((body: Schemas['ExportMailbox']) => bodyOf(operator.POST('/api/operator/exports', { body })), ['operator']);

export const useStartMove = () =>
  useChange(
    (id: string) => bodyOf(operator.POST('/api/operator/moves/{id}/start', { params: { path: { id } } })),
    ['operator'],
  );

export const useDeleteMove = () =>
  useChange(
    (id: string) => done(operator.DELETE('/api/operator/moves/{id}', { params: { path: { id } } })),
    ['operator'],
  );

/** The file of an export: the browser keeps what is large on its disk. */
export const useDownload = () =>
  useChange(
    (id: string) =>
      bodyOf(operator.GET('/api/operator/moves/{id}/content', { params: { path: { id } }, parseAs: 'blob' })),
    [],
  );

const PORTION_BYTES = 16 * 1_048_576;

/** Sends a file in portions, each read from the disk when it is its turn, then starts the import. */
export const useImportFile = () =>
  useChange(
    async ({ mailbox, file }: { readonly mailbox: string; readonly file: File }) => {
      const { id } = await bodyOf(operator.POST('/api/operator/imports', { body: { mailbox } }));
      const path = { id };
      for (let at = 0; at < file.size; at += PORTION_BYTES)
        await done(
          operator.PUT('/api/operator/moves/{id}/content', {
            params: { path, query: { at } },
            body: file.slice(at, at + PORTION_BYTES) as never,
            bodySerializer: (portion: unknown) => portion as Blob,
            headers: { 'content-type': 'application/octet-stream' },
          }),
        );
      return bodyOf(operator.POST('/api/operator/moves/{id}/start', { params: { path } }));
    },
    ['operator'],
  );

export const useImportServer = () =>
  useChange((body: Schemas['ImportMail']) => bodyOf(operator.POST('/api/operator/imports', { body })), ['operator']);
