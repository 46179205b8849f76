/** `organizations …`: the tenants of the installation, with their size, and their plan and suspension. */
import { createOrganization } from '#core/accounts/create-organization.ts';
import { acceptUrl } from '#core/accounts/invitations.ts';
import { setPlan } from '#core/accounts/organization.ts';
import { resumeOrganization, suspendOrganization } from '#core/accounts/suspension.ts';
import {
  findTenant,
  listTenants,
  type TenantFigures,
  WAITING_COUNTED_MAX,
} from '#core/organizations/tenant-figures.ts';
import { publicAddress } from '#core/platform/addresses/service-url.ts';
import { OPERATOR } from '#core/platform/caller.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { choice, type Form, integer } from '#core/platform/settings/setting-forms.ts';
import type { Sql } from '#db/database.ts';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';
import { ORGANIZATION_NAME_MAX, PLAN_NAMES, SLUG_MAX, SLUG_PATTERN } from '#domain/organizations/plans.ts';
import { SUSPENDED_RECEIVE, SUSPENSION_REASON_MAX } from '#domain/organizations/suspension.ts';
import { CommandError, command } from '#operations/command.ts';

const POOL_MAX = 1;
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 7;
const DAYS_MAX = 30;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

const textUpTo = (max: number): Form<string> => ({
  takes: `a text of 1 to ${max} characters`,
  parse: (value) => (value.trim() !== '' && value.length <= max ? value : undefined),
});
const slug: Form<string> = {
  takes: 'lower-case letters, digits and single hyphens inside',
  parse: (value) => (value.length <= SLUG_MAX && new RegExp(SLUG_PATTERN, 'u').test(value) ? value : undefined),
};
const email: Form<string> = {
  takes: 'an e-mail address',
  parse: (value) => (isEmailAddress(value) ? value : undefined),
};

const organization = { text: 'id or slug' } as const;
const days = {
  text: 'days that are counted for mail, deliveries and rates',
  value: 'number',
  form: integer(1, DAYS_MAX),
  fallback: String(DAYS_DEFAULT),
} as const;

const sinceOf = (counted: number): number => Date.now() - counted * DAY_MS;

/** @throws {CommandError} */
async function requireTenant(sql: Sql, idOrSlug: string, counted = DAYS_DEFAULT): Promise<TenantFigures> {
  const tenant = await findTenant(sql, idOrSlug, sinceOf(counted));
  if (tenant === undefined)
    throw new CommandError(`there is no organization ${idOrSlug}: see \`organizations list\` for ids and slugs`);
  return tenant;
}

/** Of those that other hosts accepted or refused; null: none. */
const rate = (count: number, of: number): number | null => (of === 0 ? null : count / of);

const shown = (tenant: TenantFigures) => ({
  ...tenant,
  bounceRate: rate(tenant.bounced, tenant.handedOver),
  complaintRate: rate(tenant.complained, tenant.handedOver),
});

const MIB_BYTES = 1_048_576;
const percent = (value: number | null, digits: number): string =>
  value === null ? '–' : `${(value * 100).toFixed(digits)} %`;
const counted = (value: number): string => (value >= WAITING_COUNTED_MAX ? `${value}+` : String(value));
const state = ({ suspendedAt, suspendedReceive }: TenantFigures): string =>
  suspendedAt === null ? 'active' : `suspended (${suspendedReceive})`;

const HEAD = [
  ...['id', 'slug', 'plan', 'state', 'mailboxes', 'messages', 'MiB', 'received', 'sent', 'bounces', 'complaints'],
  ...['deliveries', 'given up', 'waiting webhooks', 'waiting mail'],
];

function table(tenants: readonly TenantFigures[]): string {
  const rows = tenants.map((each) => [
    ...[each.id, each.slug, each.plan, state(each), String(each.mailboxes), String(each.messages)],
    ...[(each.storageBytes / MIB_BYTES).toFixed(1), String(each.received), String(each.sent)],
    ...[percent(shown(each).bounceRate, 1), percent(shown(each).complaintRate, 2), String(each.deliveries)],
    ...[String(each.deliveriesExhausted), counted(each.deliveriesWaiting), counted(each.outgoingWaiting)],
  ]);
  const widths = HEAD.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [HEAD, ...rows]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const described = (tenant: TenantFigures, counts: number): string =>
  [
    `${tenant.name} (${tenant.id}, ${tenant.slug})`,
    `plan ${tenant.plan}, ${state(tenant)}, since ${tenant.createdAt.toISOString()}`,
    ...(tenant.suspendedAt === null
      ? []
      : [`suspended ${tenant.suspendedAt.toISOString()}: ${tenant.suspendedReason ?? 'no reason was given'}`]),
    `${tenant.members} members, ${tenant.mailboxes} mailboxes, ${tenant.messages} messages, ${(tenant.storageBytes / MIB_BYTES).toFixed(1)} MiB`,
    `in ${counts} days: ${tenant.received} received, ${tenant.sent} sent; of ${tenant.handedOver} recipients at other hosts ${percent(shown(tenant).bounceRate, 1)} bounced, ${percent(shown(tenant).complaintRate, 2)} complained`,
    `in ${counts} days: ${tenant.deliveries} webhook deliveries, ${tenant.deliveriesExhausted} given up`,
    `waiting now: ${counted(tenant.deliveriesWaiting)} webhook deliveries, ${counted(tenant.outgoingWaiting)} outgoing messages`,
  ].join('\n');

export const listOrganizationsCommand = command({
  name: 'organizations list',
  summary: 'list the organizations with size, mail, deliveries, rates and what waits',
  description: `Lists organizations, oldest first: mailboxes, messages and their bytes; mail and webhook deliveries of the last days; the shares of recipients at other hosts whose mail bounced or who complained; what waits now (counted up to ${WAITING_COUNTED_MAX}). Changes nothing.`,
  arguments: {},
  options: {
    days,
    limit: {
      text: 'organizations at most',
      value: 'number',
      form: integer(1, LIMIT_MAX),
      fallback: String(LIMIT_DEFAULT),
    },
    after: {
      text: 'only those after this id, to go on with a list',
      value: 'id',
      form: textUpTo(ORGANIZATION_NAME_MAX),
    },
  },
  async run({ options, database, output }) {
    const db = await database(POOL_MAX);
    const page = { limit: options.limit, after: options.after ?? null };
    const rows = await listTenants(db, page, sinceOf(options.days));
    const tenants = rows.slice(0, options.limit);
    const next = rows.length > options.limit ? (tenants.at(-1)?.id ?? null) : null;
    output(
      { days: options.days, organizations: tenants.map(shown), next },
      `${table(tenants)}${next === null ? '' : `\nThere are more: --after ${next}`}`,
    );
    return 'done';
  },
});

export const showOrganizationCommand = command({
  name: 'organizations show',
  summary: 'show one organization with its figures',
  description: 'Shows what `organizations list` lists, for one organization. Changes nothing.',
  arguments: { organization },
  options: { days },
  async run({ args, options, database, output }) {
    const tenant = await requireTenant(await database(POOL_MAX), args.organization, options.days);
    output(shown(tenant), described(tenant, options.days));
    return 'done';
  },
});

export const createOrganizationCommand = command({
  name: 'organizations create',
  summary: 'create an organization and invite its first owner',
  description:
    'Creates an organization and invites its first owner by mail. Where no mail can be sent to that address, the link is printed, to be handed over by you. If the slug is taken, nothing changes.',
  arguments: {
    name: { text: 'name of the organization', form: textUpTo(ORGANIZATION_NAME_MAX) },
    owner: { text: 'address of the first owner', form: email },
  },
  options: {
    slug: { text: 'default: made of the name', value: 'slug', form: slug },
    plan: { text: 'its plan', value: 'plan', form: choice(...PLAN_NAMES), fallback: 'free' },
  },
  examples: ['organizations create "Example Ltd" ada@example.com --plan team'],
  async run(context) {
    const { args, options } = context;
    const services = await context.services();
    const { CREDENTIAL_PEPPER } = context.settings('CREDENTIAL_PEPPER');
    await requireAgreedSettings(services.db, { CREDENTIAL_PEPPER });
    const url = await publicAddress(services);
    const input = {
      name: args.name,
      plan: options.plan,
      ownerEmail: args.owner,
      ...(options.slug === undefined ? {} : { slug: options.slug }),
    };
    const { row, invitation } = await createOrganization(services, OPERATOR, url, input);
    const link = invitation.token === null ? null : acceptUrl(url, invitation.token);
    context.output(
      { id: row.id, name: row.name, slug: row.slug, plan: row.plan, owner: args.owner, acceptUrl: link },
      link === null
        ? `${row.id} (${row.slug}). ${args.owner} is invited by mail.`
        : `${row.id} (${row.slug})\n${link}\n\nGive the link to ${args.owner} and to nobody else.`,
    );
    return 'done';
  },
});

export const planOrganizationCommand = command({
  name: 'organizations plan',
  summary: 'move an organization to another plan',
  description:
    'Takes effect at once. Mailboxes and endpoints above the new limits stay usable. On a plan without webhooks, deliveries that wait end at their next attempt, and endpoints are kept.',
  arguments: { organization, plan: { text: PLAN_NAMES.join(', '), form: choice(...PLAN_NAMES) } },
  options: {},
  async run(context) {
    const services = await context.services();
    const tenant = await requireTenant(services.db, context.args.organization);
    const { plan } = await setPlan(services, tenant.id, OPERATOR, context.args.plan);
    context.output({ id: tenant.id, before: tenant.plan, plan }, `${tenant.id} is on the plan ${plan}.`);
    return 'done';
  },
});

export const suspendOrganizationCommand = command({
  name: 'organizations suspend',
  summary: 'suspend an organization: logins, sending, receiving and webhooks',
  description:
    'From the commit on, in every process: sessions, keys, tokens and links of the organization are refused on every protocol, and open connections end; mail to it is answered 4xx (defer) or 5xx (reject); outgoing mail, requests for a decision and their expiry wait; webhooks are not sent. Nothing is deleted. Waits until no message is being transmitted any more, ten seconds at most. Of a suspended organization it changes how mail is answered.',
  arguments: { organization },
  options: {
    receive: {
      text: 'how mail to it is answered',
      value: 'answer',
      form: choice(...SUSPENDED_RECEIVE),
      fallback: 'defer',
    },
    reason: { text: 'for the audit log and operators', value: 'text', form: textUpTo(SUSPENSION_REASON_MAX) },
  },
  examples: ['organizations suspend example --receive reject --reason "Sent spam"'],
  async run(context) {
    const { receive, reason = null } = context.options;
    const services = await context.services();
    const { id } = await requireTenant(services.db, context.args.organization);
    await context.progress.step('Suspending', () => suspendOrganization(services, id, OPERATOR, { receive, reason }));
    context.output(
      { id, suspended: true, receive, reason },
      `${id} is suspended. Mail to it is ${receive === 'defer' ? 'deferred (4xx): other hosts try again, usually for some days' : 'refused (5xx)'}.`,
    );
    return 'done';
  },
});

export const resumeOrganizationCommand = command({
  name: 'organizations resume',
  summary: 'end the suspension of an organization',
  description:
    'Its credentials are valid again, mail is accepted, outgoing mail that waited is sent, open requests have as much time left as before, and webhooks that ended because of the suspension are sent. An organization that is not suspended does not change.',
  arguments: { organization },
  options: {},
  async run(context) {
    const services = await context.services();
    const { id } = await requireTenant(services.db, context.args.organization);
    const { deliveries } = await resumeOrganization(services, id, OPERATOR);
    context.output(
      { id, suspended: false, deliveriesReturned: deliveries },
      `${id} is not suspended. ${deliveries} webhook deliveries are sent now.`,
    );
    return 'done';
  },
});
