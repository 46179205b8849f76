import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import { Organization } from './organization.ts';

/** An offer to join an organization, accepted with the token of the link. */
export const Invitation = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    email: p.text(),
    role: p.enum(MEMBER_ROLES),
    tokenHash: p.blob().unique(),
    /** User id. */
    invitedBy: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
    acceptedAt: p.datetime().nullable(),
  },
});
export type InvitationRow = InferEntity<typeof Invitation>;
