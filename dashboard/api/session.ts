import { type QueryClient, queryOptions, useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import {
  activeOrganizationId,
  bodyOf,
  chooseOrganization,
  done,
  forgetOrganization,
  Problem,
  type Schemas,
  service,
} from './client.ts';

type Session = Schemas['Session'];
type OrganizationOfUser = Session['organizations'][number];

const UNAUTHENTICATED = 401;

/** Set beside the session, which no script can read: without it there is none, and nothing is asked. */
const MARK = 'agent-mailbox-signed-in';
const isMarked = (): boolean => document.cookie.split('; ').some((each) => each.startsWith(`${MARK}=`));

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    if (!isMarked()) return null;
    try {
      const session = await bodyOf(service.GET('/api/sessions/current'));
      settleOrganization(session);
      return session;
    } catch (error) {
      if (!(error instanceof Problem && error.status === UNAUTHENTICATED)) throw error;
      // The cookie only marks that there may be a session. `cookieStore` is missing on pages without TLS.
      document.cookie = `${MARK}=; Path=/; Max-Age=0; SameSite=Strict`;
      return null;
    }
  },
  staleTime: 60_000,
});

/** The chosen organization must be one of the person's; the first one is the default. */
function settleOrganization({ organizations }: Session): void {
  const chosen = activeOrganizationId();
  if (organizations.some(({ id }) => id === chosen)) return;
  const [first] = organizations;
  if (first === undefined) forgetOrganization();
  else chooseOrganization(first.id);
}

interface SignedIn {
  readonly user: Session['user'];
  /** Where the stream of changes was when this was answered. */
  readonly changesId: string;
  readonly organizations: readonly OrganizationOfUser[];
  readonly organization: OrganizationOfUser | undefined;
  /** The organization requires one, and the session has none. */
  readonly missesSecondFactor: boolean;
}

/** For pages behind the sign-in. */
export function useSignedIn(): SignedIn {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error('a page for signed-in people was shown without a session');
  const id = activeOrganizationId();
  const organization = data.organizations.find((each) => each.id === id);
  return {
    user: data.user,
    changesId: data.changesId,
    organizations: data.organizations,
    organization,
    missesSecondFactor: !data.secondFactor && (organization?.secondFactor ?? 'off') !== 'off',
  };
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { email: string; password: string }) =>
      bodyOf(service.POST('/api/sessions', { body: { ...body, cookie: true } })),
    meta: { automatic: true },
    // What is needed beside the password comes first.
    onSuccess: (body, { email }) => ('challenge' in body ? undefined : signedIn(queries, email)),
  });
}

/** A session was opened. */
export function signedIn(queries: QueryClient, email: string): Promise<void> {
  keepWorkOf(email);
  return queries.resetQueries();
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => done(service.DELETE('/api/sessions/current')),
    onSuccess: () => {
      forgetOrganization();
      forgetWork();
      queries.clear();
    },
  });
}

/** Whether the signed-in person may manage keys, people and settings of the organization. */
export function useMayManage(): boolean {
  const role = useSignedIn().organization?.role;
  return role === 'owner' || role === 'admin';
}

/**
 * What a person has begun and not finished, such as the edit of a held message: it outlives the page that shows it and a
 * reload of it, in this tab, until it is finished or somebody else signs in.
 */
const PREFIX = 'agent-mailbox.unfinished.';
const OWNER = 'agent-mailbox.unfinished-of';

/** For browsers that refuse storage, and for work that is too long for it. */
const memory = new Map<string, string>();

export function readWork(name: string): unknown {
  const text = memory.get(name) ?? sessionStorage.getItem(PREFIX + name);
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param work undefined: it is finished */
export function keepWork(name: string, work: unknown): void {
  memory.delete(name);
  sessionStorage.removeItem(PREFIX + name);
  if (work === undefined) return;
  const text = JSON.stringify(work);
  try {
    sessionStorage.setItem(PREFIX + name, text);
  } catch {
    memory.set(name, text);
  }
}

/** Forgets all work. */
function forgetWork(): void {
  memory.clear();
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

/** Somebody signs in: the work of another person is forgotten. */
function keepWorkOf(email: string): void {
  const owner = email.trim().toLowerCase();
  if (sessionStorage.getItem(OWNER) !== owner) forgetWork();
  sessionStorage.setItem(OWNER, owner);
}
