/**
 * Every error the API can answer with: a stable code, its HTTP status, and what the reader can do about it.
 * Each is documented at /docs/errors#<code>, generated from this table.
 */
export interface CatalogueEntry {
  readonly status: number;
  /** What happened, in one sentence, unless the caller gives a better one. */
  readonly message: string;
  /** What to do. */
  readonly fix: string;
}

export const ERROR_CATALOGUE = {
  invalid_request: {
    status: 400,
    message: 'The request does not have the expected form.',
    fix: 'Correct the fields named in details. Unknown fields are rejected, so check for typing errors.',
  },
  unauthenticated: {
    status: 401,
    message: 'No valid credential was sent.',
    fix: 'Send an API key as x-organization-key, or a session or mailbox token as Authorization: Bearer.',
  },
  plan_limit_reached: {
    status: 402,
    message: 'The plan of this organization does not allow more of these.',
    fix: 'Delete one that is not needed, or move the organization to a larger plan.',
  },
  insufficient_scope: {
    status: 403,
    message: 'This credential lacks a scope that the request needs.',
    fix: 'Use a key with the scope named in the message, or create one.',
  },
  plan_required: {
    status: 403,
    message: 'The plan of this organization does not include webhooks.',
    fix: 'Move the organization to a paid plan.',
  },
  forbidden: {
    status: 403,
    message: 'This credential may not do that.',
    fix: 'Use a credential of the kind or role named in the message.',
  },
  second_factor_required: {
    status: 403,
    message: 'The organization requires a second factor for this.',
    fix: 'Add one on the page My account (/settings/account). If you have one, sign in again with it.',
  },
  recipient_blocked: {
    status: 403,
    message: 'A recipient is on a block list of this organization.',
    fix: 'Omit the recipient, or ask a member to change the list.',
  },
  content_refused: {
    status: 403,
    message: 'The message carries what may not leave.',
    fix: 'Remove what the message names, then send it again.',
  },
  sending_stopped: {
    status: 403,
    message: 'A person stopped sending.',
    fix: 'Save a draft if you like. Do not retry automatically: sending stays stopped until a signed-in person resumes it.',
  },
  drafts_only: {
    status: 403,
    message: 'This mailbox may write drafts only.',
    fix: 'Save a draft (POST …/drafts), which a signed-in person can send.',
  },
  not_found: {
    status: 404,
    message: 'There is no such resource in this organization.',
    fix: 'Check the path and the id, and that the credential belongs to the same organization.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support this method.',
    fix: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    fix: 'Send header fields within 30 seconds and the whole request within two minutes, on a new connection.',
  },
  conflict: {
    status: 409,
    message: 'The request conflicts with the current state.',
    fix: 'Read the resource again, then decide whether to repeat the request.',
  },
  idempotency_conflict: {
    status: 409,
    message: 'This Idempotency-Key was used with another request, or that request is still running.',
    fix: 'Use a new key for a new request; repeat a request with the same body.',
  },
  quota_exceeded: {
    status: 409,
    message: 'The mailbox is full: the copy in Sent does not fit.',
    fix: 'Delete mail that is no longer needed, then send again.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is larger than this path accepts.',
    fix: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body has a type that this path does not accept.',
    fix: 'Send JSON with Content-Type: application/json.',
  },
  invalid_url: {
    status: 422,
    message: 'The webhook URL is not an https URL that can be used.',
    fix: 'Give an absolute https:// URL with a host, without user name and password.',
  },
  unresolvable_destination: {
    status: 422,
    message: 'The host of the webhook URL does not resolve.',
    fix: 'Check the spelling of the host and its DNS records.',
  },
  unsafe_destination: {
    status: 422,
    message: 'The host of the webhook URL resolves to an address that is not publicly routable.',
    fix: 'Use a host that has only public addresses.',
  },
  invalid_event_types: {
    status: 422,
    message: 'eventTypes must name at least one supported event type, each once.',
    fix: 'Choose from GET /api/webhooks/event-types.',
  },
  event_type_not_allowed_for_mailbox: {
    status: 422,
    message: 'An endpoint with mailbox scope cannot receive one of the event types.',
    fix: 'Omit the type, or create the endpoint without mailboxId.',
  },
  invalid_auth_header: {
    status: 422,
    message: 'The authHeader cannot be sent.',
    fix: 'Choose another name and a value of visible ASCII characters.',
  },
  immutable_field: {
    status: 422,
    message: 'This field cannot be changed after creation.',
    fix: 'Create a new resource with the wanted value.',
  },
  invalid_local_part: {
    status: 422,
    message: 'The local part cannot be used for a mailbox.',
    fix: 'Choose another local part, or omit it to get a generated one.',
  },
  unsupported_document: {
    status: 422,
    message: 'This kind of file has no text that the service can read.',
    fix: 'Download the attachment, and read it with a program for its type.',
  },
  unreadable_document: {
    status: 422,
    message: 'The text of this document could not be read.',
    fix: 'Download the attachment, or ask its sender for another format.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests.',
    fix: 'Wait for the number of seconds in Retry-After, then try again.',
  },
  headers_too_large: {
    status: 431,
    message: 'The header fields of the request are larger than this service accepts.',
    fix: 'Send fewer or shorter header fields and a shorter URL: at most 16 KiB together.',
  },
  internal_error: {
    status: 500,
    message: 'An internal error occurred.',
    fix: 'Try again. If the error persists, report the requestId.',
  },
  unavailable: {
    status: 503,
    message: 'A dependency of the service is not reachable at the moment.',
    fix: 'Wait for the number of seconds in Retry-After, then try again.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Where in the request something is wrong: a JSON pointer such as `/url`, or `query/limit`, `header/x-…`. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** An expected failure of a use case; the API renders it, everything else is an internal error. */
export class CatalogueError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;
  /** What to do in this case; default: the general text of the catalogue. */
  readonly fix: string;

  constructor(
    code: ErrorCode,
    message: string = ERROR_CATALOGUE[code].message,
    more: { details?: readonly ErrorDetail[]; retryAfterSeconds?: number; fix?: string } = {},
  ) {
    super(message);
    this.name = 'CatalogueError';
    this.code = code;
    this.details = more.details ?? [];
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.fix = more.fix ?? ERROR_CATALOGUE[code].fix;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}
