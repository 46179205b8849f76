import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sweepNotices } from '#core/organizations/member-notices.ts';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import { newId } from '#core/platform/new-id.ts';
import { disableFailingEndpoints } from '#core/webhooks/endpoints/disable-endpoint.ts';
import { noteEndpointFailure, noteEndpointSuccess } from '#db/queries/webhooks/endpoint-health.ts';
import { MEMBER_NOTICE_RETENTION_DAYS } from '#domain/organizations/member-notices.ts';
import { FAILING_AFTER_MS, FAILING_EXHAUSTED_MIN } from '#domain/webhooks/endpoint-limits.ts';
import { deleteHistory } from '#test/support/delete-history.ts';
import { testLog } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  errorOf,
  isFailed,
  LONG_LADDER_MS,
  type Subscribed,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: '1,1,1,1' });
});
after(() => world?.close());

const DAY_MS = 86_400_000;

async function deliveries(of: Subscribed, count: number, status: 'exhausted' | 'success', atMs: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await world.sql(
      `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type, status, reason, attempt_count,
         last_error, completed_at, created_at, fan_out_id)
       values ($1, $2, $3, $4, 'email_received', $5, $6, 5, 'the server answered 503', $7, $8, 'fan-out/test')`,
      [
        newId('delivery', atMs),
        newId('event', atMs),
        of.id,
        of.organization.id,
        status,
        status === 'exhausted' ? 'attempts_exhausted' : null,
        new Date(atMs + 3_600_000),
        new Date(atMs),
      ],
    );
}

/** An endpoint that began to fail a while ago and gave up deliveries since. */
async function failing(count: number, sinceMs: number): Promise<Subscribed> {
  const setting = await world.setUp();
  await noteEndpointFailure(world.services.db, [setting.id], new Date(sinceMs));
  await deliveries(setting, count, 'exhausted', sinceMs + 60_000);
  return setting;
}

const review = ({ id }: Subscribed, nowMs: number) =>
  disableFailingEndpoints({ ...world.services, now: () => nowMs }, [id]);

async function person(organizationId: string, role: string, email: string): Promise<void> {
  const userId = newId('user');
  await world.sql(`insert into users (id, email, name, password_hash) values ($1, $2, 'A person', '')`, [
    userId,
    email,
  ]);
  await world.sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, $4)`, [
    newId('member'),
    organizationId,
    userId,
    role,
  ]);
}

test('an endpoint is set inactive after five days of failing, not before', async () => {
  const sinceMs = Date.now() - 6 * DAY_MS;
  const setting = await failing(FAILING_EXHAUSTED_MIN, sinceMs);
  assert.deepEqual(await review(setting, sinceMs + FAILING_AFTER_MS - 1), []);
  const [disabled] = await review(setting, sinceMs + FAILING_AFTER_MS);
  assert.equal(disabled?.endpointId, setting.id);
  const { body } = await setting.call('GET', setting.path);
  assert.deepEqual([body['active'], body['disabledReason']], [false, 'failing']);
  assert.equal(body['failingSince'], new Date(sinceMs).toISOString());
  assert.deepEqual(await review(setting, sinceMs + FAILING_AFTER_MS), [], 'once');
});

test('nineteen deliveries that were given up are too few', async () => {
  const sinceMs = Date.now() - 6 * DAY_MS;
  const setting = await failing(FAILING_EXHAUSTED_MIN - 1, sinceMs);
  assert.deepEqual(await review(setting, Date.now()), []);
});

test('a success ends failing, and one that was not noted at the endpoint counts as well', async () => {
  const sinceMs = Date.now() - 6 * DAY_MS;
  const noted = await failing(FAILING_EXHAUSTED_MIN, sinceMs);
  await noteEndpointSuccess(world.services.db, [noted.id], new Date(sinceMs + DAY_MS));
  assert.equal((await noted.call('GET', noted.path)).body['failingSince'], null);
  assert.deepEqual(await review(noted, Date.now()), []);
  const unnoted = await failing(FAILING_EXHAUSTED_MIN, sinceMs);
  await deliveries(unnoted, 1, 'success', sinceMs + DAY_MS);
  assert.deepEqual(await review(unnoted, Date.now()), []);
});

test('another address has not failed yet', async () => {
  const setting = await failing(FAILING_EXHAUSTED_MIN, Date.now() - 6 * DAY_MS);
  const same = await setting.call('PATCH', setting.path, { url: world.receiver.url });
  assert.notEqual(same.body['failingSince'], null);
  const other = await setting.call('PATCH', setting.path, { url: `${world.receiver.url}/other` });
  assert.equal(other.body['failingSince'], null);
  assert.deepEqual(await review(setting, Date.now()), []);
});

test('the twentieth given-up delivery sets it inactive, owners and admins are notified, and activating it offers recovery', async () => {
  const sinceMs = Date.now() - 6 * DAY_MS;
  const setting = await failing(FAILING_EXHAUSTED_MIN - 1, sinceMs);
  const { call, organization } = setting;
  const mailbox = (await call('POST', '/api/mailboxes', {})).body;
  await person(organization.id, 'owner', `owner-${setting.id}@people.example`);
  await person(organization.id, 'admin', String(mailbox['address']));
  await person(organization.id, 'member', `member-${setting.id}@people.example`);
  world.receiver.answer(503);
  await world.happen({ organization, data: { last: true } });
  await waitUntil('the endpoint to be set inactive', async () => {
    const { body } = await call('GET', setting.path);
    return body['disabledReason'] === 'failing' && body['active'] === false;
  });
  const notices = await waitUntil('both notices', async () => {
    const rows = await world.sql(
      `select recipient, state, subject, body from member_notices where organization_id = $1 order by state`,
      [organization.id],
    );
    return rows.every(({ state }) => state !== 'waiting') && rows.length > 0 && rows;
  });
  assert.deepEqual(
    notices.map(({ recipient, state }) => [recipient, state]),
    [
      [`owner-${setting.id}@people.example`, 'captured'],
      [mailbox['address'], 'sent'],
    ],
  );
  const [mail] = await world.sql(`select subject from message where mailbox_id = $1`, [mailbox['id']]);
  assert.equal(mail?.['subject'], 'Webhook endpoint set inactive: localhost:' + world.receiver.port);
  const text = String(notices[0]?.['body']);
  assert.match(text, /20 deliveries to it were given up/);
  assert.match(text, /The last attempt failed: .*503/);
  const audit = await world.sql(
    `select details from audit_entries where target_id = $1 and action = 'webhook.disabled'`,
    [setting.id],
  );
  assert.equal(audit.length, 1);

  world.receiver.answer(200);
  const active = await call('PATCH', setting.path, { active: true });
  const offered = active.body['recover'] as { since: string; deliveries: number };
  assert.equal(offered.deliveries, FAILING_EXHAUSTED_MIN);
  assert.match(text, new RegExp(`"since": "${offered.since}"`));
  assert.deepEqual([active.body['disabledReason'], active.body['failingSince']], [null, null]);
  const recovery = await call('POST', `${setting.path}/recover`, { since: offered.since });
  assert.equal(recovery.body['total'], FAILING_EXHAUSTED_MIN);
  assert.equal((await call('PATCH', setting.path, { active: true })).body['recover'], undefined);
});

test('an endpoint that is suspended by the operator stops, and only lifting lets it be set active', async () => {
  const own = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS });
  try {
    const setting = await own.setUp();
    own.receiver.answer(500);
    await own.happen({ organization: setting.organization });
    await own.delivery(setting.id, isFailed);
    await own.sql(
      `insert into users (id, email, name, password_hash) values ('usr_s', 'owner@people.example', 'O', '')`,
    );
    await own.sql(`insert into members (id, organization_id, user_id, role) values ('mem_s', $1, 'usr_s', 'owner')`, [
      setting.organization.id,
    ]);
    const suspend = (body: object) =>
      fetch(`${own.api.url}${setting.path}/suspension`, {
        method: 'PUT',
        headers: {
          'x-operator-key': 'amo_test-operator-key',
          'x-organization-id': setting.organization.id,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
    assert.equal((await suspend({ suspended: true, reason: 'It is abused.' })).status, 200);
    assert.equal((await suspend({ suspended: true })).status, 200);
    const stopped = await own.delivery(setting.id, ({ status }) => status === 'exhausted');
    assert.equal(stopped.reason, 'endpoint_inactive');
    const activate = () => setting.call('PATCH', setting.path, { active: true });
    assert.deepEqual(errorOf(await activate()), { status: 409, code: 'conflict', paths: [] });
    const notices = await own.sql(`select body from member_notices where target_id = $1`, [setting.id]);
    assert.equal(notices.length, 1, 'one notice');
    assert.match(String(notices[0]?.['body']), /It is abused\./);
    const lifted = (await (await suspend({ suspended: false })).json()) as Record<string, unknown>;
    assert.deepEqual([lifted['active'], lifted['disabledReason']], [false, null]);
    const audited = await own.sql(
      `select action from audit_entries where target_id = $1 and action like 'webhook.suspen%' order by id`,
      [setting.id],
    );
    assert.deepEqual(
      audited.map(({ action }) => action),
      ['webhook.suspended', 'webhook.suspension_lifted'],
    );
    const active = await activate();
    assert.equal(active.body['active'], true);
    assert.equal((active.body['recover'] as { deliveries: number }).deliveries, 1);
  } finally {
    await own.close();
  }
});

test('a notice whose workflow was forgotten is started again by the sweep', async () => {
  const { id: organizationId } = await world.organization();
  const id = newId('notice');
  await world.sql(
    `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, created_at, due_at)
     values ($1, $2, 'webhook_failing', 'whe_x', 'nobody@agents.test', 'S', 'B', now(), now() - interval '1 hour')`,
    [id, organizationId],
  );
  assert.equal(await sweepNotices(world.services, world.temporal, engineStarts(testLog())), 1);
  const row = await waitUntil('it to be attempted', async () => {
    const [found] = await world.sql(`select state, reply, attempts from member_notices where id = $1`, [id]);
    return found?.['state'] !== 'waiting' && found;
  });
  assert.deepEqual(row, {
    state: 'captured',
    reply: 'Not sent: this address has no mailbox here. It can be read in the list of notices',
    attempts: 1,
  });
});

test('notices and recoveries are forgotten when they have been over for long, and none that is not over', async () => {
  const setting = await world.setUp();
  const notice = async (state: string, daysAgo: number): Promise<string> => {
    const id = newId('notice');
    await world.sql(
      `insert into member_notices (id, organization_id, kind, target_id, recipient, subject, body, state, created_at,
         due_at, finished_at)
       select $1, $2, 'webhook_failing', $3, 'nobody@agents.test', 'S', 'B', $4, at, at,
              case when $4 <> 'waiting' then at end
         from (select now() - make_interval(days => $5) as at) as t`,
      [id, setting.organization.id, setting.id, state, daysAgo],
    );
    return id;
  };
  const recovery = async (daysAgo: number): Promise<string> => {
    const id = newId('recovery');
    await world.sql(
      `insert into recoveries (id, organization_id, endpoint_id, status, since, until, state, after_id, before_id, total,
         finished_at)
       values ($1, $2, $3, 'exhausted', now(), now(), 'completed', '', '', 0, now() - make_interval(days => $4))`,
      [id, setting.organization.id, setting.id, daysAgo],
    );
    return id;
  };
  await notice('sent', MEMBER_NOTICE_RETENTION_DAYS + 1);
  const kept = [await notice('sent', 1), await notice('waiting', MEMBER_NOTICE_RETENTION_DAYS + 1)];
  await recovery(31);
  kept.push(await recovery(1));
  await deleteHistory(world.services);
  const rows = await world.sql(
    `select id from member_notices where organization_id = $1
     union all select id from recoveries where organization_id = $1`,
    [setting.organization.id],
  );
  assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(kept));
});
