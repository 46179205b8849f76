import type { Role } from './queries.ts';

/** Roles with what they may do. */
export const ROLES: readonly (readonly [Role, string, string])[] = [
  ['member', 'Member', 'Reads and sends mail, adds mailboxes, decides approvals'],
  ['admin', 'Admin', 'Also manages people, API keys and settings'],
  ['owner', 'Owner', 'Also makes and removes owners'],
];

export const roleTitle = (role: Role): string => ROLES.find(([each]) => each === role)?.[1] ?? role;
