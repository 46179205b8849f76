/**
 * Every error the API can answer with: a stable code, its HTTP status, and what the reader can do about it.
 * Each is documented at /docs/errors#<code>, generated from this table.
 */
export interface CatalogueEntry {
  readonly status: number;
  /** What happened, in one sentence, when the caller gives no better one. */
  readonly message: string;
  /** What to do. */
  readonly fix: string;
}

export const ERROR_CATALOGUE = {
  invalid_request: {
    status: 400,
    message: 'The request does not have the expected form.',
    fix: 'Correct the fields named in details. Unknown fields are rejected, so look for a typing error.',
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
  recipient_blocked: {
    status: 403,
    message: 'A recipient is on a block list of this organization.',
    fix: 'Leave the recipient out, or ask a member to change the list.',
  },
  not_found: {
    status: 404,
    message: 'There is no such resource in this organization.',
    fix: 'Check the path and the id, and that the credential belongs to the same organization.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not answer to this method.',
    fix: 'Use one of the methods in the Allow header.',
  },
  conflict: {
    status: 409,
    message: 'The request conflicts with the present state.',
    fix: 'Read the resource again and decide anew.',
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
    message: 'The body is larger than this path takes.',
    fix: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body has a type this path does not take.',
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
    fix: 'Use a host all of whose addresses are public.',
  },
  invalid_event_types: {
    status: 422,
    message: 'eventTypes must name at least one supported event type, each once.',
    fix: 'Choose from GET /api/webhooks/event-types.',
  },
  event_type_not_allowed_for_mailbox: {
    status: 422,
    message: 'An event type of the list cannot reach an endpoint with mailbox scope.',
    fix: 'Leave the type out, or create the endpoint without mailboxId.',
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
    fix: 'Choose another local part, or leave it out to have one made.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests.',
    fix: 'Wait for the seconds in Retry-After, then try again.',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side.',
    fix: 'Try again. If it stays, report the requestId.',
  },
  unavailable: {
    status: 503,
    message: 'A part the service depends on is not reachable at the moment.',
    fix: 'Try again after the seconds in Retry-After.',
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
  /** What to do in this very case; where nothing is given, what the catalogue says in general. */
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
