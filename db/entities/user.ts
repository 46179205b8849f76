import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A person who signs in. Belongs to organizations through members. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.text().primary(),
    /** Lower-cased. */
    email: p.text().unique(),
    name: p.text(),
    /** argon2id in PHC form; see core/accounts/sign-in.ts. */
    passwordHash: p.text(),
    firstSignedInAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
  },
});
export type UserRow = InferEntity<typeof User>;
