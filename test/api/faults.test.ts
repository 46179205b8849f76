/**
 * Every POST route under faults of the database at statements all over it, and always at the commit and beside it: an
 * error, and an answer that is lost. Repeated with its Idempotency-Key the request has its effect once and answers in full; without one it has it wholly or not at all.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Route } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { type Answer, type ApiWorld, apiWorld, asBearer, at, errorCode, textAt } from '#test/support/api-world.ts';
import { type PostgresFaults, postgresFaults, type StatementFault } from '#test/support/postgres-faults.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type PostRequest, postRequests } from './post-requests.ts';

let database: TestDatabase;
let faults: PostgresFaults;
let world: ApiWorld;
/** Beside the proxy. */
let direct: pg.Client;
let tables: string[];

/** The probe of readiness, counters of limits, stored answers, where somebody signed in, spellings of labels, and contents, which are kept by their
 * hash and deleted when nothing names them. */
const NO_EFFECTS = [
  'rate_limits',
  'sending_use',
  'idempotency_keys',
  'sign_in_sources',
  'mail_keyword',
  'blob',
  'migrations',
  'readiness_probe',
  // Written beside requests: last uses of tokens, the address of the service, hints for open pages.
  'mailbox_login',
  'public_address',
  'organization_change',
  // Written in the background, from the messages that count.
  'carried_mail',
  'carried_mark',
  'carried_due',
  'carried_document',
  // Written beside an answer: whose mail it shows.
  'sender_read',
  // Written where tracing is on.
  'trace_context',
  // Written by operators alone.
  'erasure',
  'operator_use',
  'mailbox_move',
  'mailbox_move_part',
];
const FAULTS: readonly StatementFault[] = [{ kind: 'error', sqlState: '53100' }, { kind: 'lose' }];
/** Statements that fail beside those around the commit, spread over the request. */
const SPREAD = 4;
/** A statement beside the request, such as a check of readiness, may be the one that fails: then it is tried again. */
const TRIES = 4;

before(async () => {
  database = await createTestDatabase();
  faults = await postgresFaults(database.url);
  world = await apiWorld({ DATABASE_URL: faults.url(database.url) });
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  const { rows } = await direct.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  await direct.query(`update organizations set plan = 'unlimited'`);
  tables = rows.map(({ name }) => name).filter((name) => !NO_EFFECTS.includes(name));
});
after(async () => {
  await direct.end();
  await world.close();
  await faults.close();
  await database.drop();
});

/** Operations that share their code with another one: of a mailbox token, and answers and copies of mail. */
const ALIKE = /^\/api\/mailbox\/|\/(?:reply|reply-all|forward)$|^\/api\/lists\/inbound\//;

type Counts = Readonly<Record<string, number>>;

async function countRows(): Promise<Counts> {
  const { rows } = await direct.query<{ name: string; count: number }>({
    // Prepared: to plan it takes much longer than to run it, a thousand times.
    name: 'count rows',
    text: tables.map((name) => `select '${name}' as name, count(*)::int as count from ${name}`).join(' union all '),
  });
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** Rows that came and went, by table. */
const difference = (before: Counts, now: Counts): Counts =>
  Object.fromEntries(
    Object.entries(now).flatMap(([name, count]) =>
      count === before[name] ? [] : [[name, count - (before[name] ?? 0)]],
    ),
  );

const send = ({ path, as, body }: PostRequest, key?: string): Promise<Answer> =>
  world.call('POST', path, {
    as,
    ...(body === undefined ? {} : { body }),
    headers: {
      // Sign-ins are limited by address.
      'x-forwarded-for': `198.51.${Math.trunc(Math.random() * 256)}.${Math.trunc(Math.random() * 256)}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
  });

/** Statements of a request that are to fail: some all over it, the last ones, and the commit. */
function statementsToFail(statements: number, spread: number): (number | 'commit')[] {
  const all = Array.from({ length: spread }, (_, n) => 1 + Math.floor((n * statements) / spread));
  const last = [statements - 1, statements].filter((number) => spread > 0 && number >= 1);
  return [...new Set([...all, ...last]), 'commit'];
}

/** Fails statements of a request, one after the other. @returns how often a fault was met at the commit, by its kind */
async function eachStatement(
  make: () => Promise<PostRequest>,
  spread: number,
  key: (() => string) | undefined,
  look: (first: Answer, request: PostRequest, key: string | undefined, before: Counts, what: string) => Promise<void>,
): Promise<Record<StatementFault['kind'], number>> {
  const request = await make();
  faults.count();
  assert.ok((await send(request, key?.())).status < 300);
  const counted = faults.counted();
  const atCommit = { error: 0, lose: 0 };
  for (const fault of FAULTS)
    for (const number of statementsToFail(counted, spread))
      for (let tries = 0; tries < TRIES; tries++) {
        const failing = await make();
        const before = await countRows();
        const used = key?.();
        faults.arm(number, fault);
        const first = await send(failing, used);
        faults.disarm();
        const what = `${fault.kind} at statement ${number} of ${counted}`;
        if (first.status < 400) continue;
        assert.equal(first.status, 503, `${what}: ${first.text}`);
        assert.equal(errorCode(first), 'unavailable', what);
        assert.ok(Number(first.headers.get('retry-after')) > 0, what);
        await look(first, failing, used, before, what);
        if (number === 'commit') atCommit[fault.kind]++;
        break;
      }
  return atCommit;
}

/** Repeats until the database has noticed that the connection is lost. */
const repeat = (request: PostRequest, key: string): Promise<Answer> =>
  waitUntil('an answer', async () => {
    const answer = await send(request, key);
    return (answer.status === 409 && errorCode(answer) === 'idempotency_conflict') || answer.status === 503
      ? undefined
      : answer;
  });

async function checkSecrets(route: Route, answer: Answer): Promise<void> {
  for (const field of route.secretFields ?? []) assert.notEqual(at(answer.body, field), null, `${field} is shown`);
  if (route.operationId !== 'createMailbox' && route.operationId !== 'rotateMailboxToken') return;
  const opened = await world.call('GET', '/api/mailbox', { as: asBearer(textAt(answer.body, 'token')) });
  assert.equal(textAt(opened.body, 'id'), textAt(answer.body, 'id'), 'the token opens the mailbox');
}

// The bytes of a file are stored before the transaction of its request: `files.test.ts` interrupts and repeats uploads.
for (const route of routes.filter(({ method, takesFile }) => method === 'POST' && takesFile === undefined))
  describe(`POST ${route.path}`, () => {
    const make = async (): Promise<PostRequest> => {
      const request = postRequests[route.operationId];
      assert.ok(request !== undefined, `add a request for ${route.operationId} to post-requests.ts`);
      // Each of the many requests counts; what they are about is not limits.
      await direct.query('delete from rate_limits');
      return request(world);
    };
    const spread = ALIKE.test(route.path) ? 0 : SPREAD;
    let status: number;
    let effect: Counts;
    before(async () => {
      const request = await make();
      const rows = await countRows();
      const answer = await send(request);
      assert.ok(answer.status < 300, answer.text);
      status = answer.status;
      effect = difference(rows, await countRows());
    });

    test('with an Idempotency-Key: one effect and the whole answer, whichever statement fails', async () => {
      const newKey = () => randomBytes(12).toString('hex');
      const met = await eachStatement(make, spread, newKey, async (_, request, key, rows, what) => {
        const again = await repeat(request, key ?? '');
        assert.equal(again.status, status, `${what}: ${again.text}`);
        assert.deepEqual(difference(rows, await countRows()), effect, what);
        await checkSecrets(route, again);
        const third = await send(request, key);
        assert.equal(third.text, again.text, what);
        assert.deepEqual(difference(rows, await countRows()), effect, what);
      });
      assert.deepEqual(met, { error: 1, lose: 1 }, 'both faults were met at the commit');
    });

    test('without one: the whole effect or none, whichever statement fails', async () => {
      await eachStatement(make, Math.min(spread, 1), undefined, async (first, _request, _key, rows, what) => {
        const changed = difference(rows, await countRows());
        if (Object.keys(changed).length === 0) return;
        assert.deepEqual(changed, effect, what);
        assert.match(textAt(first.body, 'error', 'message'), /lost/, what);
      });
    });
  });

/** The answer to a request that met the fault. */
const answerTo = (fault: StatementFault): Promise<Answer> =>
  waitUntil('a request to meet the fault', async () => {
    faults.arm(1, fault);
    const answer = await world.call('GET', '/api/mailboxes', { as: world.organization.key });
    faults.disarm();
    return answer.status === 200 ? undefined : answer;
  });

test('the errors say what is wrong with the database', async () => {
  const texts: Readonly<Record<string, RegExp>> = {
    '53100': /disk space/,
    '53200': /memory/,
    '25006': /read-only/,
    '57P03': /not reachable/,
    '57P01': /connection to the database was lost/,
    '40001': /same data/,
    '40P01': /same data/,
  };
  for (const [sqlState, text] of Object.entries(texts)) {
    const answer = await answerTo({ kind: 'error', sqlState });
    assert.deepEqual([answer.status, errorCode(answer)], [503, 'unavailable'], sqlState);
    assert.match(textAt(answer.body, 'error', 'message'), text, sqlState);
    assert.ok(Number(answer.headers.get('retry-after')) > 0, sqlState);
  }
});
