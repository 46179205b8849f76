import { limitLinkTokens } from '#api/http/rate-limit.ts';
import { FORM_IN_BROWSER, type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { listBody, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { answerSignIn, SIGN_IN_RESPONSES } from '#api/sessions/answer-sign-in.ts';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  listInvitations,
  lookAtInvitation,
} from '#core/accounts/invitations.ts';
import { changeMemberRole, getMember, listMembers, removeMember } from '#core/accounts/members.ts';
import { createResetToHandOver } from '#core/accounts/passwords.ts';
import { resetMemberSecondFactor } from '#core/accounts/second-factor/second-factor.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import {
  AcceptInvitation,
  ChangeRole,
  InvitationList,
  InvitationLook,
  InvitationParams,
  InvitationWithToken,
  InviteMember,
  invitationExample,
  invitationLookExample,
  invitationWithTokenExample,
  LookAtInvitation,
  Member,
  MemberList,
  MemberParams,
  memberExample,
  PasswordResetLink,
  passwordResetExample,
  presentInvitation,
  presentInvitationLook,
  presentMember,
  presentNewInvitation,
  presentReset,
} from './schema.ts';

const tag = 'Members';

export const memberRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/members',
    operationId: 'listMembers',
    withoutCall: { cli: SHOWN_TO_PERSONS },
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
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Invite a person',
    description:
      'Sends a one-time link, valid for a week, to the address. No mail is sent if this instance hosts the address, because agents may read it, or if the instance sends no mail at all. In these cases the answer contains the link, and you hand it over (`delivery: by_inviter`). An open invitation to the same address is replaced. Only an owner may invite an owner.',
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
    async handler({ services, temporal, organization, principal, caller, body, publicUrl }) {
      const input = { email: body.email, role: body.role ?? 'member' };
      const created = await createInvitation(services, { organization, caller, publicUrl }, principal, input);
      await sendNotices(services, temporal, created.notices);
      return { status: 201, body: presentNewInvitation(created, publicUrl) };
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/members/:id',
    operationId: 'changeMemberRole',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Change a role',
    description: 'The last owner cannot lose the role; only an owner may grant or remove the role owner.',
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
    withoutCall: { cli: SHOWN_TO_PERSONS },
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
    method: 'POST',
    path: '/api/members/:id/password-reset',
    operationId: 'resetMemberPassword',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Create a link for a member to choose a new password',
    description:
      'For members who get no link by mail: their address is hosted by this instance, where agents may read it, or the instance sends no mail. You hand the link over. You must be an owner of every organization of this person, and cannot do it for yourself; otherwise the operator creates the link (`npm run reset-password`).',
    auth: { role: 'owner' },
    params: MemberParams,
    secretFields: ['token', 'resetUrl'],
    responses: {
      201: { description: 'The link, which works once.', schema: PasswordResetLink, example: passwordResetExample },
    },
    errors: ['not_found', 'conflict'],
    async handler({ services, organization, principal, caller, params, publicUrl }) {
      const reset = await createResetToHandOver(services, organization.id, params.id, principal, caller);
      return { status: 201, body: presentReset(reset, publicUrl) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/members/:id/second-factor-reset',
    operationId: 'resetMemberSecondFactor',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: "Reset a member's second factor",
    description:
      'For a person who has lost the device and the recovery codes. The password alone signs in then, until the person adds another factor. Ends all sessions of the person and the links of notices; the person gets a mail about it. You must be an admin or owner of every organization of this person, an owner where the person is one, and cannot do it for yourself; otherwise the operator does it (`agent-mailbox-admin reset-password --second-factor`).',
    auth: { role: 'admin' },
    params: MemberParams,
    responses: { 204: { description: 'Reset.' } },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, organization, principal, caller, params }) {
      const notices = await resetMemberSecondFactor(services, organization.id, params.id, principal, caller);
      await sendNotices(services, temporal, notices);
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/invitations',
    operationId: 'listInvitations',
    withoutCall: { cli: SHOWN_TO_PERSONS },
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
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Withdraw an invitation',
    auth: { role: 'admin' },
    params: InvitationParams,
    responses: { 204: { description: 'Withdrawn; its link is not valid any more.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await deleteInvitation(services, organization.id, params.id, caller);
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/api/invitations/look',
    operationId: 'lookAtInvitation',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Get an invitation before it is accepted',
    auth: 'public',
    body: LookAtInvitation,
    bodyExample: { token: invitationWithTokenExample.token },
    responses: { 200: { description: 'The invitation.', schema: InvitationLook, example: invitationLookExample } },
    errors: ['not_found', 'rate_limited'],
    async handler({ services, body, ipAddress }) {
      await limitLinkTokens(services, ipAddress);
      return { status: 200, body: presentInvitationLook(await lookAtInvitation(services, body.token)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/invitations/accept',
    operationId: 'acceptInvitation',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Accept an invitation and sign in',
    description:
      'Creates an account if the invited address has none; otherwise the password is that of the account, and if that has a second factor, the person is a member now and signs in with it (202).',
    auth: 'public',
    body: AcceptInvitation,
    bodyExample: {
      token: invitationWithTokenExample.token,
      name: 'Grace Hopper',
      password: 'correct horse battery staple',
    },
    secretFields: ['token', 'challenge'],
    responses: SIGN_IN_RESPONSES,
    errors: ['not_found', 'unauthenticated', 'rate_limited', 'forbidden'],
    async handler({ services, body: { cookie, ...body }, ipAddress, requestId, headers, browser }) {
      if (cookie === true) browser.requireOwnPage();
      const origin = { ipAddress, requestId, userAgent: headers['user-agent'] };
      return answerSignIn(await acceptInvitation(services, body, origin), cookie === true, browser);
    },
  }),
];
