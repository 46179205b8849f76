/** Consent of a person to mail that leaves the organization. */
import { OVER_BUDGET_KINDS, OVER_BUDGET_SENTENCES } from './sending-brakes.ts';

/** Requests that one transaction of an approval decides: its locks are short, and nobody waits long for them. */
export const DECIDED_AT_ONCE_MAX = 100;
/** Requests that one call denies. */
export const DENIED_AT_ONCE_MAX = 200;
/** Requests that one call decides after a person has read each of them: as many as fit on one page. */
export const DECIDED_TOGETHER_MAX = 20;
/** Portions that the request of the approval decides; a sweep of the API processes decides the rest. */
export const DECIDED_PORTIONS_MAX = 10;

/** A reply with more text than this is not compared with the mail that it may quote: it is held. */
export const REPLY_COMPARED_MAX_BYTES = 1_048_576;
/** A reply may quote the newest of these messages of its thread. */
export const REPLY_QUOTES_MESSAGES_MAX = 50;
/** Characters of their texts together. */
export const REPLY_QUOTES_MAX_CHARACTERS = 524_288;
/** Lines that a reply may quote. */
export const REPLY_QUOTED_LINES_MAX = 5_000;

/** When mail to an outside address waits for a person: never, at the first contact, always. */
export const OUTBOUND_CONSENT_MODES = ['off', 'first_contact', 'always'] as const;
export type OutboundConsentMode = (typeof OUTBOUND_CONSENT_MODES)[number];
export const OUTBOUND_CONSENT_DEFAULT: OutboundConsentMode = 'first_contact';

/**
 *   pending ──approve──▶ approved (scope)
 *      └─deny, send back with a comment, or nobody decided in time──▶ denied
 */
export const CONSENT_STATUSES = ['pending', 'approved', 'denied'] as const;
export type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** Earlier versions of a message that the approver is shown: those that were sent back before it, newest first. */
export const EARLIER_VERSIONS_MAX = 5;

/**
 * The scope of an approval: this message (and its recipient for replies in its thread), its recipients from now on, or
 * their domains from now on.
 */
export const CONSENT_SCOPES = ['message', 'address', 'domain'] as const;
export type ConsentScope = (typeof CONSENT_SCOPES)[number];

/**
 * Why a message waits for a person. `carries_other_mail`: it contains passages or files of mail of others;
 * `reply_target`: it would go where the answered message asks for replies, at another organization than its author's.
 * `opaque_links`: addresses of its links or pictures have long parts that are no words and could be encoded mail;
 * `unknown_sender_read`: mail of a sender whom nobody released was read shortly before;
 * `resubmitted`: a person sent its first version back, and nothing else asks for approval; `not_recorded`: the request is
 * older than these kinds.
 */
export const HELD_BECAUSE_KINDS = [
  'first_contact',
  'always',
  'carries_other_mail',
  'reply_target',
  'opaque_links',
  'unknown_sender_read',
  ...OVER_BUDGET_KINDS,
  'resubmitted',
  'not_recorded',
] as const;
export type HeldBecauseKind = (typeof HELD_BECAUSE_KINDS)[number];

/** What a person is shown about the reason, beside its sentence; `consent.held_details`. */
export interface HeldDetails {
  /** Links and remote pictures whose addresses have long parts that are no words, as far as they are shown. */
  readonly links?: readonly string[];
  /** Senders whom nobody released and whose mail was read before (ISO 8601), latest first. */
  readonly unknownSenders?: readonly { readonly address: string; readonly readAt: string }[];
}

/** Recipients that a sentence names; further ones are counted. */
const RECIPIENTS_NAMED_MAX = 3;

/** The same as a sentence for people. @param recipients those the request is about */
export function heldBecauseSentence(kind: HeldBecauseKind, recipients: readonly string[]): string {
  const named = recipients.slice(0, RECIPIENTS_NAMED_MAX).join(', ');
  const more = recipients.length - RECIPIENTS_NAMED_MAX;
  const all = more > 0 ? `${named} and ${more} more` : named;
  switch (kind) {
    case 'first_contact':
      return `First contact with ${all}.`;
    case 'always':
      return `Every message to a recipient outside the organization needs the approval of a person; this one is for ${all}.`;
    case 'carries_other_mail':
      return `This message to ${all} contains text or files of other mail, which they neither wrote nor got in this conversation.`;
    case 'reply_target':
      return `The answered message asks for replies to ${all}, which is not at the domain of its author.`;
    case 'opaque_links':
      return `Addresses of links or pictures in this message have long parts that are no words. Such a part can carry away what the agent has read. The message is for ${all}.`;
    case 'unknown_sender_read':
      return `The agent had just read mail of a sender whom nobody here released, and that mail may have told it what to send. This message is for ${all}.`;
    case 'over_message_budget':
    case 'over_new_recipient_budget':
      return `${OVER_BUDGET_SENTENCES[kind]} This message is for ${all}.`;
    case 'resubmitted':
      return `A person sent the message before it back; this is the changed one, for ${all}.`;
    case 'not_recorded':
      return `Held because of ${all}.`;
  }
}

/** A text before and after a person changed it; null: the message had no such part, or has it no longer. */
export interface TextChange {
  readonly before: string | null;
  readonly after: string | null;
  /** One of them is longer than the stored part. */
  readonly cut: boolean;
}

/** Recipients before and after, as `a@b.c` or `Name <a@b.c>`. */
export interface RecipientsChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Changes a person made before approving; missing fields did not change. */
export interface ConsentChanges {
  readonly subject?: TextChange;
  readonly text?: TextChange;
  readonly html?: TextChange;
  readonly to?: RecipientsChange;
  readonly cc?: RecipientsChange;
  readonly bcc?: RecipientsChange;
}

/**
 * Characters stored of a changed text, each before and after: enough to see the changes in a letter, without becoming a
 * second mail store.
 */
export const CHANGE_TEXT_MAX_CHARACTERS = 16_384;

export const textChange = (before: string | null, after: string | null): TextChange => ({
  before: before?.slice(0, CHANGE_TEXT_MAX_CHARACTERS).toWellFormed() ?? null,
  after: after?.slice(0, CHANGE_TEXT_MAX_CHARACTERS).toWellFormed() ?? null,
  cut: Math.max(before?.length ?? 0, after?.length ?? 0) > CHANGE_TEXT_MAX_CHARACTERS,
});

/** Seconds in which an approval can be taken back; its message waits so long. */
export const UNDO_MAX_SECONDS = 60;
export const UNDO_DEFAULT_SECONDS = 0;

export const CONSENT_REASON_MAX_CHARACTERS = 1_000;

/** After the comment of a message that was sent back: what its sender can do. */
export const RETURNED_SENTENCE =
  'Change the message as it says and submit it with `resubmits` set to its consent id; it is shown to a person again.';

/** The answer to a client whose message is held (specification of the API, "Messages"). */
export const HELD_SENTENCE = 'Held for approval. This is not a failure; do not send it again.';
