import { acceptInvitation, createInvitation, deleteInvitation, listInvitations } from '../../core/invitations.ts';
import { changeMemberRole, getMember, listMembers, removeMember } from '../../core/members.ts';
import { createSession } from '../../core/sessions.ts';
import { listBody, PageQuery, pageOf } from '../pagination.ts';
import { type Route, route } from '../route.ts';
import { sessionWithTokenExample } from '../sessions/examples.ts';
import { presentNewSession } from '../sessions/present.ts';
import { SessionWithToken } from '../sessions/schema.ts';
import { invitationExample, invitationWithTokenExample, memberExample } from './examples.ts';
import { presentInvitation, presentMember, presentNewInvitation } from './present.ts';
import {
  AcceptInvitation,
  ChangeRole,
  InvitationList,
  InvitationParams,
  InvitationWithToken,
  InviteMember,
  Member,
  MemberList,
  MemberParams,
} from './schema.ts';

const tag = 'Members';

export const memberRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/members',
    operationId: 'listMembers',
    tag,
    summary: 'List members',
    auth: { scope: 'org:read' },
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of members, in the order they joined.',
        schema: MemberList,
        example: { data: [memberExample], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('member', query);
      return {
        status: 200,
        body: listBody(await listMembers(services.db, organization.id, page), page, presentMember),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/members',
    operationId: 'inviteMember',
    tag,
    summary: 'Invite a person',
    description:
      'Answers the one-time link, for a week. An open invitation to the same address is replaced. Only an owner may invite an owner.',
    auth: { role: 'admin' },
    body: InviteMember,
    bodyExample: { email: 'grace@example.com', role: 'member' },
    secretFields: ['token', 'acceptUrl'],
    responses: {
      201: {
        description: 'The invitation.',
        schema: InvitationWithToken,
        example: invitationWithTokenExample,
      },
    },
    errors: ['conflict'],
    async handler({ services, organization, principal, caller, body, publicUrl }) {
      const input = { email: body.email, role: body.role ?? 'member' };
      const created = await createInvitation(services, organization.id, principal, caller, input);
      return { status: 201, body: presentNewInvitation(created.row, created.token, publicUrl) };
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/members/:id',
    operationId: 'changeMemberRole',
    tag,
    summary: 'Change a role',
    description: 'The last owner keeps the role; only an owner may give or take the role owner.',
    auth: { role: 'admin' },
    params: MemberParams,
    body: ChangeRole,
    bodyExample: { role: 'admin' },
    responses: { 200: { description: 'The member as it is now.', schema: Member, example: memberExample } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, principal, caller, params, body }) {
      await changeMemberRole(services, organization.id, params.id, principal, caller, body.role);
      return { status: 200, body: presentMember(await getMember(services.db, organization.id, params.id)) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/members/:id',
    operationId: 'removeMember',
    tag,
    summary: 'Remove a member, or leave',
    description: 'Members may remove themselves, admins and owners others. The last owner cannot leave.',
    auth: { role: 'member' },
    params: MemberParams,
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, principal, caller, params }) {
      await removeMember(services, organization.id, params.id, principal, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/invitations',
    operationId: 'listInvitations',
    tag,
    summary: 'List open invitations',
    auth: { role: 'admin' },
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of invitations, newest first.',
        schema: InvitationList,
        example: { data: [invitationExample], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('invitation', query);
      return {
        status: 200,
        body: listBody(await listInvitations(services, organization.id, page), page, presentInvitation),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/invitations/:id',
    operationId: 'deleteInvitation',
    tag,
    summary: 'Withdraw an invitation',
    auth: { role: 'admin' },
    params: InvitationParams,
    responses: { 204: { description: 'Withdrawn; its link is dead.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await deleteInvitation(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/api/invitations/accept',
    operationId: 'acceptInvitation',
    tag,
    summary: 'Accept an invitation and sign in',
    description: 'Makes an account when the invited address has none; else the password is that of the account.',
    auth: 'public',
    body: AcceptInvitation,
    bodyExample: {
      token: invitationWithTokenExample.token,
      name: 'Grace Hopper',
      password: 'correct horse battery staple',
    },
    secretFields: ['token'],
    responses: {
      201: { description: 'A member, and signed in.', schema: SessionWithToken, example: sessionWithTokenExample },
    },
    errors: ['not_found', 'unauthenticated', 'rate_limited'],
    async handler({ services, body, ipAddress, requestId }) {
      const user = await acceptInvitation(services, body, { ipAddress, requestId });
      return { status: 201, body: presentNewSession(await createSession(services, user, { ipAddress, requestId })) };
    },
  }),
];
