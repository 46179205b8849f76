/** The bounds of IMAP connections. */
import {
  BAD_COMMANDS_MAX,
  LOGIN_TIMEOUT_MS,
  STUCK_READER_TIMEOUT_MS,
  WRITE_AHEAD_MAX_BYTES,
} from '@agent-mailbox/mail-store/limits';

/** Bounds of one connection. Each is an option and has a default. */
export interface ImapLimits {
  /**
   * A command line without its literals. Default: 64 KiB, which has room for a full ID (RFC 2971 §3.3), sent before
   * login.
   */
  readonly lineMaxBytes: number;
  /** One literal that is not a message. Default: 64 KiB. */
  readonly literalMaxBytes: number;
  /** The same before login. Default: 4 KiB. */
  readonly literalBeforeLoginMaxBytes: number;
  /** All literals of one command that are not messages. Default: 1 MiB. */
  readonly literalsPerCommandMaxBytes: number;
  /** Messages in one MULTIAPPEND (RFC 3502). Default: 1,000. */
  readonly appendMessagesMax: number;
  /** A non-synchronizing literal above this is not even read to be dropped. Default: 8 × `messageMaxBytes`. */
  readonly absurdLiteralBytes: number;
  /** Time to log in, from the first byte. Default: 1 min. */
  readonly loginTimeMs: number;
  /** Time without a command. Default: 30 min; never less (RFC 9051 §5.4). */
  readonly autologoutMs: number;
  /** Interval of `* OK` lines during IDLE, so that routers keep the connection. Default: 2 min. */
  readonly idleKeepaliveMs: number;
  /** Commands answered BAD until the connection ends, once logged in those without an OK between. Default: 20. */
  readonly badCommandsMax: number;
  /** Answers are written at most this far ahead of the client. Default: 64 KiB. */
  readonly unwrittenMaxBytes: number;
  /** A client that does not read its answers is disconnected after this time. Default: 5 min. */
  readonly stuckReaderMs: number;
  /** COMPRESS: more inflated bytes than this for each received byte end the connection. Default: 200. */
  readonly inflateRatioMax: number;
  /** COMPRESS: the ratio is applied above so many inflated bytes. Default: 1 MiB. */
  readonly inflateRatioFromBytes: number;
}

/** The same with the largest message that the host accepts. */
export interface ConnectionLimits extends ImapLimits {
  readonly messageMaxBytes: number;
}

export const DEFAULT_IMAP_LIMITS: Omit<ImapLimits, 'absurdLiteralBytes'> = {
  lineMaxBytes: 65_536,
  literalMaxBytes: 65_536,
  literalBeforeLoginMaxBytes: 4_096,
  literalsPerCommandMaxBytes: 1_048_576,
  appendMessagesMax: 1_000,
  loginTimeMs: LOGIN_TIMEOUT_MS,
  autologoutMs: 1_800_000,
  idleKeepaliveMs: 120_000,
  badCommandsMax: BAD_COMMANDS_MAX,
  unwrittenMaxBytes: WRITE_AHEAD_MAX_BYTES,
  stuckReaderMs: STUCK_READER_TIMEOUT_MS,
  inflateRatioMax: 200,
  inflateRatioFromBytes: 1_048_576,
};

export const connectionLimits = (messageMaxBytes: number, given: Partial<ImapLimits> = {}): ConnectionLimits => ({
  ...DEFAULT_IMAP_LIMITS,
  absurdLiteralBytes: 8 * messageMaxBytes,
  ...given,
  messageMaxBytes,
});

/** One ID command (RFC 2971 §3.3): fields, octets of a name, octets of a value. */
export const ID_FIELDS_MAX = 30;
export const ID_NAME_MAX_BYTES = 30;
export const ID_VALUE_MAX_BYTES = 1_024;
/** Ranges of one sequence set. */
export const SET_RANGES_MAX = 10_000;
/** Keys of one search, and how deep they nest. */
export const SEARCH_KEYS_MAX = 500;
export const SEARCH_DEPTH_MAX = 16;
