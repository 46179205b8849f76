/** The one way to the service: requests typed by its OpenAPI document, with the cookie of the session. */
import createClient, { type Middleware } from 'openapi-fetch';
import { Problem } from '../problem.ts';
import type { components, paths } from './openapi.ts';

export { Problem } from '../problem.ts';

export type Schemas = components['schemas'];

const nameOrganization: Middleware = {
  onRequest({ request }) {
    const id = activeOrganizationId();
    if (id !== undefined) request.headers.set('x-organization-id', id);
    return request;
  },
};

export const service = createClient<paths>({ credentials: 'same-origin' });
service.use(nameOrganization);

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of an answer. @throws {Problem} for every other answer, and when there is none */
export async function bodyOf<Data>(asked: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const { data } = await answerOf(asked);
  if (data === undefined || data === null) throw new Problem(0, {});
  return data;
}

/** Waits for an answer without a body. @throws {Problem} */
export async function done(asked: Promise<Answer<unknown>>): Promise<void> {
  await answerOf(asked);
}

async function answerOf<Data>(asked: Promise<Answer<Data>>): Promise<Answer<Data>> {
  let answer: Answer<Data>;
  try {
    answer = await asked;
  } catch {
    throw new Problem(0, {
      message: 'The service cannot be reached.',
      fix: 'Check that it runs and that this machine is online, then try again.',
    });
  }
  if (!answer.response.ok) throw problemOf(answer.response.status, answer.error);
  return answer;
}

function problemOf(status: number, error: unknown): Problem {
  if (typeof error === 'object' && error !== null && 'error' in error && typeof error.error === 'object')
    return new Problem(status, error.error ?? {});
  return new Problem(status, {});
}

/** Which organization of the person the pages show; kept in the browser, so that a reload stays in it. */
const KEY = 'agent-mailbox.organization';

export const activeOrganizationId = (): string | undefined => localStorage.getItem(KEY) ?? undefined;

export const chooseOrganization = (id: string): void => localStorage.setItem(KEY, id);

export const forgetOrganization = (): void => localStorage.removeItem(KEY);
