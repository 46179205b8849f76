/** How a store refuses or fails. */

/** Why the store refused a write. Everything else throws: the database is unreachable, or an internal error. */
export const STORE_REFUSALS = [
  'over-quota',
  'no-folder',
  'exists',
  'cannot',
  'limit',
  'too-big',
  'gone',
  'no-permission',
] as const;
export type StoreRefusal = (typeof STORE_REFUSALS)[number];

export class StoreRefused extends Error {
  readonly refusal: StoreRefusal;
  constructor(refusal: StoreRefusal, message: string) {
    super(message);
    this.name = 'StoreRefused';
    this.refusal = refusal;
  }
}

/** Thrown while the database cannot be reached; the connection stays, the command answers NO [UNAVAILABLE]. */
export class StoreUnavailable extends Error {}
