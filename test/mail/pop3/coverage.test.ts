/** Runs all POP3 sessions once more in this process: no command, CAPA word or response code may go without one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pop3Commands, RESPONSE_CODES } from '#packages/pop3/src/commands.ts';
import { memoryMaildrop } from './memory-maildrop.ts';
import { startPop3 } from './pop3-server.ts';
import { exchanges, pipelined } from './recorded-sessions.ts';

await import('./pop3.test.ts');
await import('./rfc-examples.test.ts');

const verbOf = (text: string): string => text.split(' ')[0]?.toUpperCase() ?? '';
const answered = (text: RegExp, reply = /^\+OK/) =>
  exchanges.filter((each) => text.test(each.text) && reply.test(each.reply));

test('every command is answered in every state it is allowed in, and refused in the other', () => {
  const missing: string[] = [];
  for (const { verb, states } of pop3Commands.values())
    for (const state of ['authorization', 'transaction'] as const) {
      const wanted = states.includes(state) ? '+OK' : '-ERR';
      const isThere = exchanges.some(
        (each) =>
          verbOf(each.text) === verb && each.state === state && (each.reply.startsWith(wanted) || each.reply === '+ '),
      );
      if (!isThere) missing.push(`${verb} ${wanted} in state ${state}`);
    }
  assert.deepEqual(missing, []);
});

/** A session that uses what a word announces. */
const USES: Readonly<Record<string, () => boolean>> = {
  TOP: () => answered(/^TOP /).length > 0,
  UIDL: () => answered(/^UIDL$/).length > 0 && answered(/^UIDL \d/).length > 0,
  'RESP-CODES': () => exchanges.some(({ reply }) => /^-ERR \[[A-Z/-]+\] /.test(reply)),
  'AUTH-RESP-CODE': () => exchanges.some(({ reply }) => reply.startsWith('-ERR [AUTH] ')),
  PIPELINING: () => pipelined.length > 0,
  USER: () => answered(/^USER /).length > 0 && answered(/^PASS /).length > 0,
  SASL: () => answered(/^AUTH PLAIN /i).length > 0 && exchanges.some(({ text }) => text.startsWith('AUTH XOAUTH2 ')),
  STLS: () => answered(/^STLS$/).length > 0,
  EXPIRE: () =>
    answered(/^RETR 1$/).some(({ connection }) => {
      const of = exchanges.filter((each) => each.connection === connection);
      return of.some(({ text }) => text === 'QUIT') && !of.some(({ text }) => text.startsWith('DELE'));
    }),
  UTF8: () => answered(/^UTF8$/).length > 0,
  IMPLEMENTATION: () => answered(/^CAPA$/).length > 0,
};

test('every word of CAPA is used', async () => {
  const server = await startPop3(memoryMaildrop());
  after(() => server.close());
  const announced = new Set<string>();
  for (const client of [await server.connectPlain(), await server.connect(), await server.login()]) {
    await client.command('CAPA');
    for (const line of await client.body()) announced.add(verbOf(line));
    client.close();
  }
  assert.deepEqual(Object.keys(USES).toSorted(), [...announced].toSorted());
  assert.deepEqual(
    Object.entries(USES)
      .filter(([, isUsed]) => !isUsed())
      .map(([word]) => word),
    [],
  );
});

test('every response code is sent', () => {
  const sent = new Set(exchanges.flatMap(({ reply }) => /^-ERR \[([A-Z/-]+)\]/.exec(reply)?.[1] ?? []));
  assert.deepEqual([...sent].toSorted(), [...RESPONSE_CODES].toSorted());
});
