import Type, { type Static } from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { Actor, closed, dateTime, listBody, listOf, nullable, pageOf, pageQuery } from '#api/http/schema-parts.ts';
import { type AuditEntryView, listAudit } from '#core/organizations/audit.ts';
import { idPattern } from '#domain/ids.ts';
import { AUDIT_ACTIONS } from '#domain/organizations/audit-actions.ts';

const text = () => nullable(Type.String());

const AuditEntry = closed(
  {
    id: Type.String({ pattern: idPattern('audit') }),
    actor: Actor,
    action: Type.Enum(AUDIT_ACTIONS),
    targetId: nullable(Type.String({ description: 'Id of the object that was changed.' })),
    details: Type.Record(Type.String(), Type.Unknown(), { description: 'By action.' }),
    ipAddress: text(),
    requestId: text(),
    createdAt: dateTime(),
  },
  { title: 'AuditEntry' },
);

const AuditQuery = closed({
  ...pageQuery,
  action: Type.Optional(Type.Enum(AUDIT_ACTIONS)),
  actorId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  targetId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  since: Type.Optional(dateTime('From this time on.')),
  until: Type.Optional(dateTime('Before this time.')),
});

const presentEntry = (entry: AuditEntryView): Static<typeof AuditEntry> => ({
  id: entry.id,
  actor: {
    type: entry.actor.type,
    id: entry.actor.id,
    name: entry.actor.name,
    email: entry.actor.email,
    address: entry.actor.address,
  },
  action: entry.action,
  targetId: entry.targetId,
  details: { ...entry.details },
  ipAddress: entry.ipAddress,
  requestId: entry.requestId,
  createdAt: entry.createdAt.toISOString(),
});

const example = {
  id: 'aud_01k8e8f2c0e4x9w2v7a3r5t6y8',
  actor: {
    type: 'user',
    id: 'usr_01k8e8f2c0e4x9w2v7a3r5t6y8',
    name: 'Ada Byron',
    email: 'ada@example.com',
    address: null,
  },
  action: 'mailbox.created',
  targetId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  details: { address: 'calm-otter-4821@agents.example.com', name: 'Order desk' },
  ipAddress: '203.0.113.7',
  requestId: 'req_01k8e8f2c0e4x9w2v7a3r5t6y8',
  createdAt: '2026-11-21T09:15:00.000Z',
};

export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/audit',
    operationId: 'listAudit',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag: 'Audit',
    summary: 'Who did what, when, from where; newest first',
    auth: { scope: 'org:read' },
    query: AuditQuery,
    responses: {
      200: {
        description: 'A page of entries.',
        schema: listOf(AuditEntry, 'AuditEntryList'),
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('audit', query);
      const filter = {
        ...(query.action === undefined ? {} : { action: query.action }),
        ...(query.actorId === undefined ? {} : { actorId: query.actorId }),
        ...(query.targetId === undefined ? {} : { targetId: query.targetId }),
        ...(query.since === undefined ? {} : { since: new Date(query.since) }),
        ...(query.until === undefined ? {} : { until: new Date(query.until) }),
      };
      const rows = await listAudit(services.db, organization.id, filter, page);
      return { status: 200, body: listBody(rows, page, presentEntry) };
    },
  }),
];
