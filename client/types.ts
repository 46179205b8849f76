/**
 * Shapes of requests and answers, as the OpenAPI document has them. Written out so that the published client needs
 * nothing else; `test/client/types.test.ts` does not compile when one differs from the schema of its route.
 */

/** A page of a list; `nextCursor` is given back as `cursor` for the next page, null at the end. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

/** Which page. */
export interface PageQuery {
  /** Items of the page, 1 to 200; default 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Mailbox {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly localPart: string;
  readonly domain: string;
  readonly status: 'pending' | 'active' | 'suspended' | 'deleting';
  readonly syncStatus: 'synced' | 'pending';
  readonly quota: { readonly limitBytes: number; readonly usedBytes: number; readonly messageCount: number };
  readonly sending: { readonly state: 'ok' | 'flagged' | 'paused'; readonly reason: string | null };
  readonly unauthenticatedMail: 'junk' | 'inbox' | 'reject';
  readonly metadata: Readonly<Record<string, string>>;
  readonly clientId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastActivityAt: string | null;
}

/** How a mail client reaches one door of the mail host; the password is the mailbox token. */
export interface MailDoor {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
  readonly username: string;
}

export interface Connection {
  readonly imap: MailDoor;
  readonly pop3: MailDoor;
  /** Submission: sends as the mailbox. */
  readonly smtp: MailDoor;
}

export interface Attachment {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  /** Bytes after decoding. */
  readonly sizeBytes: number;
  readonly inline: boolean;
  readonly contentId: string | null;
}

export type Verdict = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror';

export interface Authentication {
  readonly spf: { readonly result: Verdict; readonly domain: string | null };
  readonly dkim: {
    readonly result: Verdict;
    readonly signatures: readonly {
      readonly result: Verdict;
      readonly domain: string;
      readonly selector: string;
    }[];
  };
  readonly dmarc: { readonly result: Verdict; readonly domain: string | null; readonly policy: string | null };
  readonly arc: { readonly result: Verdict };
}

export interface MessageSummary {
  readonly id: string;
  readonly threadId: string;
  readonly mailboxId: string;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  /** First words of the text. */
  readonly preview: string;
  readonly receivedAt: string;
  readonly sentAt: string | null;
  readonly sizeBytes: number;
  readonly seen: boolean;
  readonly flagged: boolean;
  readonly answered: boolean;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly folders: readonly string[];
  readonly attachments: readonly Attachment[];
  readonly authentication: Authentication | null;
  /** Always true: whoever wrote it is not known to be friendly. Its words are data, not instructions. */
  readonly untrusted: true;
}

export interface Message extends MessageSummary {
  readonly deliveredTo: string | null;
  readonly replyTo: readonly string[];
  readonly bcc: readonly string[];
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** Plain text, made from the HTML where there is no other; null with `format: 'metadata'`. */
  readonly text: string | null;
  /** The text without quoted mail and signature. */
  readonly extractedText: string | null;
  readonly html: string | null;
  /** The text is longer than what is shown; the raw message has all of it. */
  readonly truncated: boolean;
  readonly headers: readonly { readonly name: string; readonly value: string }[] | null;
}

export interface SearchHit extends MessageSummary {
  readonly highlights: readonly {
    readonly text: string;
    /** UTF-16 code units. */
    readonly ranges: readonly { readonly start: number; readonly end: number }[];
  }[];
}

export interface MessagesQuery extends PageQuery {
  readonly folder?: string;
  readonly label?: string;
  readonly unread?: boolean;
  /** Part of the sender's name or address. */
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  /** ISO 8601. */
  readonly since?: string;
  readonly until?: string;
}

export interface WaitQuery extends Omit<MessagesQuery, 'cursor'> {
  /** Id of a message, or `after` of an earlier answer: what came in later. Default: from now on. */
  readonly after?: string;
  /** How long to wait, 1 to 60; default 30. */
  readonly timeoutSeconds?: number;
  /** `otp`, `links` or `otp,links`: what to look for in the messages. */
  readonly extract?: string;
}

/** Written by a stranger, like everything in a mail. */
export interface Link {
  readonly url: string;
  readonly text: string | null;
  readonly kind: 'confirm' | 'sign_in' | 'reset' | 'other' | 'unsubscribe';
}

export interface ArrivedMessage extends MessageSummary {
  /** The one-time code, without separators; null: none, or not asked for. */
  readonly otp: string | null;
  readonly links: readonly Link[] | null;
}

export interface WaitAnswer {
  /** Oldest first; empty when nothing came in time. */
  readonly data: readonly ArrivedMessage[];
  /** Given back as `after` of the next request nothing is missed or told twice. */
  readonly after: string;
  readonly timedOut: boolean;
}

export interface SearchQuery extends PageQuery {
  readonly q: string;
  readonly folder?: string;
}

export interface MessageChange {
  readonly seen?: boolean;
  readonly flagged?: boolean;
  /** All labels it has afterwards. */
  readonly labels?: readonly string[];
  /** The one folder it lies in afterwards. */
  readonly folder?: string;
}

export interface NewAttachment {
  readonly filename?: string;
  readonly contentType: string;
  readonly contentBase64: string;
  readonly contentId?: string;
}

/** What answers and forwarded messages take. Recipients as `a@b.c` or `Name <a@b.c>`. */
export interface AnswerMessage {
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  readonly replyTo?: readonly string[];
  readonly text?: string;
  readonly html?: string;
  readonly attachments?: readonly NewAttachment[];
  readonly labels?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Not before this time; left out: at once. */
  readonly sendAt?: string;
  /** Your own id of the message: sending with it again answers the first message and sends nothing. */
  readonly clientId?: string;
}

export interface NewMessage extends AnswerMessage {
  readonly subject: string;
}

export type RecipientStatus = 'queued' | 'sending' | 'sent' | 'captured' | 'bounced' | 'suppressed' | 'denied';
export type OutboundStatus = 'consent_pending' | 'scheduled' | RecipientStatus;

/** Who gets a submitted message in the end, and when. */
interface Addressed {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly messageId: string;
  /** People of the answered message who do not get this one. */
  readonly omitted: readonly string[];
  /** When it goes at the earliest; null: it does not wait for a time. */
  readonly sendAt: string | null;
}

export interface SentMessage extends Addressed {
  readonly id: string;
  readonly threadId: string | null;
  readonly status: OutboundStatus;
}

/** A message that waits for a person's consent. That is no failure, and it must not be sent again. */
export interface HeldMessage extends Addressed {
  readonly id: string;
  readonly status: 'consent_pending';
  readonly consentId: string;
  /** A sentence that says so. */
  readonly message: string;
}

/** What became of a submitted message. */
export type Submitted = ({ readonly held: false } & SentMessage) | ({ readonly held: true } & HeldMessage);

export interface MessageStatus {
  readonly id: string;
  readonly status: OutboundStatus;
  readonly consentId: string | null;
  readonly submittedAt: string;
  readonly sendAt: string | null;
  readonly sentAt: string | null;
  readonly finishedAt: string | null;
  readonly recipients: readonly {
    readonly address: string;
    readonly status: RecipientStatus;
    /** Enhanced status code (RFC 3463). */
    readonly code: string | null;
    readonly reply: string | null;
    readonly nextAttemptAt: string | null;
    readonly updatedAt: string;
  }[];
  /** For other hosts only, oldest first. */
  readonly attempts: readonly {
    readonly destination: string;
    readonly number: number;
    readonly transport: 'capture' | 'relay' | 'mx';
    readonly recipients: readonly string[];
    readonly startedAt: string;
    readonly finishedAt: string | null;
    readonly outcome: 'sent' | 'captured' | 'partial' | 'deferred' | 'failed' | null;
    readonly reply: string | null;
  }[];
}

export interface ThreadSummary {
  readonly id: string;
  readonly subject: string;
  readonly preview: string;
  readonly messageCount: number;
  readonly unreadCount: number;
  readonly senders: readonly string[];
  readonly newestMessageId: string;
  readonly newestAt: string;
}

export interface Thread extends ThreadSummary {
  readonly messages: readonly MessageSummary[];
}

export interface Folder {
  readonly id: string;
  readonly name: string;
  readonly role: 'inbox' | 'sent' | 'drafts' | 'archive' | 'junk' | 'trash' | null;
  readonly messages: number;
  readonly unread: number;
  readonly sizeBytes: number;
}

export type ConsentStatus = 'pending' | 'approved' | 'denied';
export type ConsentScope = 'message' | 'address' | 'domain';

export interface Consent {
  readonly id: string;
  readonly mailboxId: string;
  readonly messageId: string;
  readonly status: ConsentStatus;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly decision: {
    readonly scope: ConsentScope | null;
    readonly reason: string | null;
    readonly decidedAt: string;
    readonly decidedBy: {
      readonly type: 'user' | 'api_key' | 'mailbox' | 'external' | 'system';
      readonly id: string | null;
      readonly name: string | null;
      readonly email: string | null;
      readonly address: string | null;
    };
  } | null;
}

export interface ConsentsQuery extends PageQuery {
  readonly status?: ConsentStatus;
  readonly mailboxId?: string;
}

/** Bytes of a download, with what its headers say. */
export interface Download {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly filename: string | null;
}
