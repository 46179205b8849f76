/** Scopes of an organization API key (interface §2). */
export const API_SCOPES = [
  'mailbox:create',
  'mailbox:read',
  'mailbox:write',
  'mailbox:delete',
  'org:read',
  'webhook:create',
  'webhook:read',
  'webhook:manage',
] as const;

export type ApiScope = (typeof API_SCOPES)[number];

/** Roles of a person in an organization, narrowest first. */
export const MEMBER_ROLES = ['member', 'admin', 'owner'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Whether a role includes everything another role may do. */
export const roleIncludes = (role: MemberRole, needed: MemberRole): boolean =>
  MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(needed);
