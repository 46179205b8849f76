/** What a store searches for in the content of messages: SEARCH without the keys that the engine resolves itself. */
export type EnvelopeField = 'bcc' | 'cc' | 'from' | 'subject' | 'to';

/** A search whose folder-state keys (flags, UIDs, MODSEQ, sequence numbers) the engine has already resolved. */
export type ContentQuery =
  | { readonly kind: 'and' | 'or'; readonly of: readonly ContentQuery[] }
  | { readonly kind: 'not'; readonly of: ContentQuery }
  /** Substring without regard to case. `field`: lower-cased header name; empty text: the field is present. */
  | { readonly kind: 'header'; readonly field: string; readonly text: string }
  /** Substring of the decoded field of the envelope structure; of an address `Name <local@host>`, of a group `Name:`. */
  | { readonly kind: 'envelope'; readonly field: EnvelopeField; readonly text: string }
  | { readonly kind: 'body' | 'text'; readonly text: string }
  | { readonly kind: 'larger' | 'smaller'; readonly bytes: number }
  /**
   * Half-open range in milliseconds since 1970; open ends are null. `internal-time` compares points in time, the others
   * calendar days: those of the internal date and of the Date header in their own zones.
   */
  | {
      readonly kind: 'internal-time' | 'internal-day' | 'sent-date' | 'save-date';
      readonly from: number | null;
      readonly before: number | null;
    }
  | { readonly kind: 'message-id' | 'thread-id'; readonly id: string }
  | { readonly kind: 'uids'; readonly uids: readonly number[] };
