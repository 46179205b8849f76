import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { MEMBER_ROLES } from '#domain/access/api-scopes.ts';
import { Organization } from './organization.ts';
import { User } from './user.ts';

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  uniques: [{ properties: ['organization', 'user'] }],
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    user: () => p.manyToOne(User).ref(),
    role: p.enum(MEMBER_ROLES),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type MemberRow = InferEntity<typeof Member>;
