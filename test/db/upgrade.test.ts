/** A filled database passes through the migrations of a later version, and works there. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Migration } from '@mikro-orm/migrations';
import { isMigrated, migrate, pendingMigrations } from '#db/migrate.ts';
import { migrations } from '#db/migrations/index.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { withdrawMessage } from '#sending/submit/withdraw-message.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let nextVersionIsBroken = true;

/** What a later version may do: new columns on filled and on partitioned tables, an index, and data for old rows. */
class Migration20991231000001_next_version extends Migration {
  override up(): void {
    this.addSql(/* sql */ `
      alter table message add column stars smallint not null default 0 check (stars between 0 and 5);
      create index message_stars on message (mailbox_id, stars) where stars > 0;
      alter table events add column source text not null default 'before';
      alter table outbound_message add column urgent boolean not null default true;
      alter table outbound_message alter column urgent set default false;
      update message set stars = 1 where origin = 'smtp';`);
  }
}
class Migration20991231000002_next_version_ends extends Migration {
  override up(): void {
    this.addSql(`alter table organizations add column nickname text`);
    if (nextVersionIsBroken) this.addSql(`alter table organizations add column nickname text`);
  }
}

const today = migrations.map(({ name }) => name);
const next = [Migration20991231000001_next_version, Migration20991231000002_next_version_ends];
const letter = (subject: string) => `From: Bob <bob@example.com>\r\nSubject: ${subject}\r\n\r\nWords.\r\n`;

let world: OutboundWorld;
before(async () => {
  migrations.push(...next);
  world = await openOutboundWorld({ capture: true });
});
after(async () => {
  migrations.splice(-next.length);
  await world?.close();
});

const query = (text: string, values: readonly unknown[] = []) => world.mail.services.db.query(text, values);
const recorded = async () => (await query(`select name from migrations order by id`)).map(({ name }) => name);

test('if one of several new migrations fails, none of them has changed anything', async () => {
  const { db } = world.mail.services;
  assert.match(await world.mail.send(world.sender.address, letter('before')), /^250 /);
  assert.deepEqual(
    await pendingMigrations(db),
    next.map(({ name }) => name),
  );
  await assert.rejects(migrate(db), /nickname/);
  assert.deepEqual(await recorded(), today);
  assert.deepEqual(
    await query(`select from pg_attribute where attname in ('stars', 'source', 'urgent', 'nickname')
    and attrelid in ('message'::regclass, 'events'::regclass, 'outbound_message'::regclass, 'organizations'::regclass)`),
    [],
  );
});

test('stored mail, held mail and events are there after a migration, as new ones are', async () => {
  const { services, organizationId } = world.mail;
  const { db } = services;
  await world.consentMode('always');
  const held = await world.submit(
    `From: ${world.sender.address}\r\nSubject: held\r\nMessage-ID: <held@x>\r\n\r\nhi\r\n`,
    ['stranger@example.com'],
  );
  const events = (await query(`select from events`)).length;
  assert.ok(events > 0);
  nextVersionIsBroken = false;
  assert.equal(await isMigrated(db), false);
  assert.deepEqual(
    await migrate(db),
    next.map(({ name }) => name),
  );
  assert.equal(await isMigrated(db), true);
  assert.deepEqual(await migrate(db), []);

  assert.deepEqual(await query(`select subject from message where stars = 1`), [{ subject: 'before' }]);
  assert.equal((await query(`select from events where source = 'before'`)).length, events);
  assert.match(await world.mail.send(world.sender.address, letter('after')), /^250 /);
  assert.deepEqual(await query(`select subject from message where stars = 0 and origin = 'smtp'`), [
    { subject: 'after' },
  ]);
  assert.ok((await query(`select from events`)).length > events);
  assert.deepEqual(await query(`select urgent from outbound_message where organization_id = $1`, [organizationId]), [
    { urgent: true },
  ]);
  assert.equal((await withdrawMessage(services, world.sender.id, held.messageId, SYSTEM_ACTOR)).kind, 'withdrawn');
  assert.deepEqual(await world.mail.faults(), []);
});
