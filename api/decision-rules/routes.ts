/** Rules who decides about held messages, and deputies. */
import Type, { type Static } from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { Actor, closed, dateTime, listBody, listOf, nullable, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { MailboxGroup } from '#api/mailboxes/schema.ts';
import { type Deputy, findDeputy, nameDeputy } from '#core/accounts/deputies.ts';
import {
  createDecisionRule,
  deleteDecisionRule,
  listDecisionRules,
  type StoredDecisionRule,
} from '#core/organizations/decision-rules.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import {
  DECISION_RULE_MEMBERS_MAX,
  DECISION_RULE_RECIPIENTS_MAX,
  DEPUTY_MAX_DAYS,
  ESCALATES_AFTER_HOURS_DEFAULT,
  ESCALATES_AFTER_HOURS_MAX,
  type DutyHours as Hours,
  isTimeZone,
} from '#domain/sending/decision-rules.ts';
import { DutyHours } from './hours.ts';

const Id = Type.String({ pattern: idPattern('decisionRule'), description: 'Id of the rule.' });
const MemberId = Type.String({ pattern: idPattern('member') });
const RECIPIENT_MAX_CHARACTERS = 254;
/** An address, or a domain with a dot; ASCII, as recipients are compared. */
const RECIPIENT = '^(?:[\\x21-\\x3f\\x41-\\x7e]+@)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\\.[A-Za-z0-9-]+$';

const fields = {
  mailboxGroup: nullable({ ...MailboxGroup, description: 'Only messages of mailboxes of this group; null: of all.' }),
  recipients: Type.Array(Type.String({ maxLength: RECIPIENT_MAX_CHARACTERS, pattern: RECIPIENT }), {
    maxItems: DECISION_RULE_RECIPIENTS_MAX,
    description: 'Only messages to one of these addresses or domains; empty: to anybody.',
  }),
  memberIds: Type.Array(MemberId, {
    maxItems: DECISION_RULE_MEMBERS_MAX,
    description: 'Members who are responsible; empty: the rule names nobody, and is about two persons.',
  }),
  persons: Type.Integer({
    minimum: 1,
    maximum: 2,
    description: '2: an approval waits for a second one by another person. One denial is enough.',
  }),
  hours: nullable(DutyHours),
  escalatesAfterHours: Type.Integer({
    minimum: 1,
    maximum: ESCALATES_AFTER_HOURS_MAX,
    description: `After so many hours (default ${ESCALATES_AFTER_HOURS_DEFAULT}) without a decision every member is asked, and may decide.`,
  }),
};
const DecisionRule = closed(
  { id: Id, ...fields, createdBy: Actor, createdAt: dateTime() },
  {
    title: 'DecisionRule',
    description:
      'Of the rules about a message that name members, the most specific ones say who decides: with recipients before those with a group, these before others.',
  },
);
const DecisionRuleList = listOf(DecisionRule, 'DecisionRuleList');
const NewDecisionRule = closed(
  {
    mailboxGroup: Type.Optional(fields.mailboxGroup),
    recipients: Type.Optional(fields.recipients),
    memberIds: Type.Optional(fields.memberIds),
    persons: Type.Optional(fields.persons),
    hours: Type.Optional(fields.hours),
    escalatesAfterHours: Type.Optional(fields.escalatesAfterHours),
  },
  { title: 'NewDecisionRule' },
);

const example = {
  id: 'rul_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxGroup: 'support',
  recipients: [],
  memberIds: ['mem_01k8e8f2c0e4x9w2v7a3r5t6y8'],
  persons: 1,
  hours: { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '08:00', to: '18:00' },
  escalatesAfterHours: ESCALATES_AFTER_HOURS_DEFAULT,
  createdBy: {
    type: 'user',
    id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
    name: 'Grace Hill',
    email: 'grace@acme.example',
    address: null,
  },
  createdAt: '2026-11-21T09:16:02.481Z',
};

const presentHours = (hours: Hours | null) => (hours === null ? null : { ...hours, days: [...hours.days] });

const presentDecisionRule = (row: StoredDecisionRule): Static<typeof DecisionRule> => ({
  id: row.id,
  mailboxGroup: row.mailboxGroup,
  recipients: [...row.recipients],
  memberIds: [...row.memberIds],
  persons: row.persons,
  hours: presentHours(row.hours),
  escalatesAfterHours: row.escalatesAfterHours,
  createdBy: { ...row.createdBy },
  createdAt: row.createdAt.toISOString(),
});

const DeputyFields = closed(
  { memberId: MemberId, from: dateTime(), until: dateTime(`At most ${DEPUTY_MAX_DAYS} days after \`from\`.`) },
  { title: 'Deputy', description: 'Who decides where you may, within the time; null: nobody.' },
);
const DeputyOfMember = closed({ deputy: nullable(DeputyFields) }, { title: 'DeputyOfMember' });
const DeputyChange = closed({ deputy: nullable(DeputyFields) }, { title: 'DeputyChange' });
const deputyExample = {
  deputy: {
    memberId: 'mem_01k8e8f2c0e4x9w2v7a3r5t6y9',
    from: '2099-11-21T09:00:00.000Z',
    until: '2099-12-01T09:00:00.000Z',
  },
};
const presentDeputy = (deputy: Deputy | null): Static<typeof DeputyOfMember> => ({
  deputy:
    deputy === null
      ? null
      : { memberId: deputy.memberId, from: deputy.from.toISOString(), until: deputy.until.toISOString() },
});

const tag = 'Consents';
const deputyPath = '/api/sessions/current/deputy';

function memberOf(organizationId: string, { memberId }: { readonly memberId: string | null }) {
  if (memberId === null) throw new CatalogueError('forbidden');
  return { organizationId, memberId };
}

const refused = (path: string, message: string) =>
  new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });

export const decisionRuleRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/decision-rules',
    operationId: 'listDecisionRules',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'List the rules who decides',
    auth: { role: 'member' },
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of them, oldest first.',
        schema: DecisionRuleList,
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('decisionRule', query);
      const rows = await listDecisionRules(services.db, organization.id, page);
      return { status: 200, body: listBody(rows, page, presentDecisionRule) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/decision-rules',
    operationId: 'createDecisionRule',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Say who decides about held messages',
    description:
      'For a group of mailboxes, for recipients, or for all. It counts for sessions, keys, links of notices, approvals in advance and allow lists; without a rule every member decides.',
    auth: { role: 'admin' },
    body: NewDecisionRule,
    bodyExample: { mailboxGroup: 'press', recipients: ['press.example'], persons: 2 },
    responses: { 201: { description: 'The rule.', schema: DecisionRule, example } },
    errors: ['conflict'],
    async handler({ services, organization, caller, body }) {
      const { mailboxGroup = null, recipients = [], memberIds = [], persons = 1, hours = null } = body;
      if (memberIds.length === 0 && persons === 1)
        throw refused('/memberIds', 'must name a member, unless two persons are needed');
      if (hours !== null && !isTimeZone(hours.timeZone)) throw refused('/hours/timeZone', 'is not a known time zone');
      if (hours !== null && hours.from === hours.to) throw refused('/hours/to', 'must be another time than `from`');
      const { escalatesAfterHours = ESCALATES_AFTER_HOURS_DEFAULT } = body;
      const rule = { mailboxGroup, recipients, memberIds, persons, hours, escalatesAfterHours };
      const row = await createDecisionRule(services, organization.id, rule, caller);
      return { status: 201, body: presentDecisionRule(row) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/decision-rules/:id',
    operationId: 'deleteDecisionRule',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Delete a rule',
    auth: { role: 'admin' },
    params: closed({ id: Id }),
    responses: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await deleteDecisionRule(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: deputyPath,
    operationId: 'getDeputy',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Get who decides for you',
    auth: { role: 'member' },
    responses: { 200: { description: 'Your deputy.', schema: DeputyOfMember, example: deputyExample } },
    async handler({ services, organization, principal }) {
      const member = memberOf(organization.id, principal);
      return { status: 200, body: presentDeputy(await findDeputy(services.db, member)) };
    },
  }),
  route({
    method: 'PUT',
    path: deputyPath,
    operationId: 'putDeputy',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Name a member who decides for you',
    description: 'Within the time the deputy may decide, and is notified, wherever a rule names you. You still may.',
    auth: { role: 'member' },
    body: DeputyChange,
    bodyExample: { deputy: null },
    responses: { 200: { description: 'Your deputy.', schema: DeputyOfMember, example: deputyExample } },
    async handler({ services, organization, principal, caller, body: { deputy } }) {
      const member = memberOf(organization.id, principal);
      const named =
        deputy === null
          ? null
          : { memberId: deputy.memberId, from: new Date(deputy.from), until: new Date(deputy.until) };
      await nameDeputy(services, member, named, caller);
      return { status: 200, body: presentDeputy(await findDeputy(services.db, member)) };
    },
  }),
];
