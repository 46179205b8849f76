/** The part of a draft that is kept after its removal; `outbound_message.draft`. */
export interface KeptDraft {
  readonly id: string;
  readonly clientId: string | null;
  /** As PostgreSQL writes `bytea`. */
  readonly clientHashes: readonly string[] | null;
  /** ISO 8601. */
  readonly sendAt: string | null;
  readonly createdAt: string;
}
