import assert from 'node:assert/strict';
import { textAt } from './api-world.ts';
import type { StartedService } from './started-service.ts';

/** Lets a mailbox of `npm start` get mail that is hostile on purpose, and send afterwards as if it had not read it. */
export async function screeningOff({ facts }: Pick<StartedService, 'facts'>, mailboxId: string): Promise<void> {
  const send = async (method: string, path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(facts.apiUrl + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  const session: unknown = await send('POST', '/api/sessions', { email: facts.email, password: facts.password });
  const authorization = `Bearer ${textAt(session, 'token')}`;
  await send(
    'PATCH',
    `/api/mailboxes/${mailboxId}`,
    { screening: 'off', askAfterReadingMinutes: 0 },
    { authorization },
  );
}
