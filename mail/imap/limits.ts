/** The bounds of one IMAP connection. Each is a setting; the defaults are those of `domain/mail-limits.ts`. */
import {
  BAD_COMMANDS_MAX,
  IMAP_ABSURD_LITERAL_BYTES,
  IMAP_APPEND_MESSAGES_MAX,
  IMAP_AUTOLOGOUT_MS,
  IMAP_IDLE_KEEPALIVE_MS,
  IMAP_INFLATE_RATIO_FROM_BYTES,
  IMAP_INFLATE_RATIO_MAX,
  IMAP_LINE_BEFORE_LOGIN_MAX_BYTES,
  IMAP_LINE_MAX_BYTES,
  IMAP_LITERAL_BEFORE_LOGIN_MAX_BYTES,
  IMAP_LITERAL_MAX_BYTES,
  IMAP_LITERALS_PER_COMMAND_MAX_BYTES,
  LOGIN_TIMEOUT_MS,
  MESSAGE_MAX_BYTES,
  STUCK_READER_TIMEOUT_MS,
  WRITE_AHEAD_MAX_BYTES,
} from '../../domain/mail-limits.ts';

export interface ImapLimits {
  readonly messageMaxBytes: number;
  readonly lineMaxBytes: number;
  readonly lineBeforeLoginMaxBytes: number;
  readonly literalMaxBytes: number;
  readonly literalBeforeLoginMaxBytes: number;
  readonly literalsPerCommandMaxBytes: number;
  readonly appendMessagesMax: number;
  readonly absurdLiteralBytes: number;
  readonly loginTimeMs: number;
  readonly autologoutMs: number;
  readonly idleKeepaliveMs: number;
  readonly badCommandsMax: number;
  readonly unwrittenMaxBytes: number;
  readonly stuckReaderMs: number;
  readonly inflateRatioMax: number;
  readonly inflateRatioFromBytes: number;
}

export const DEFAULT_IMAP_LIMITS: ImapLimits = {
  messageMaxBytes: MESSAGE_MAX_BYTES,
  lineMaxBytes: IMAP_LINE_MAX_BYTES,
  lineBeforeLoginMaxBytes: IMAP_LINE_BEFORE_LOGIN_MAX_BYTES,
  literalMaxBytes: IMAP_LITERAL_MAX_BYTES,
  literalBeforeLoginMaxBytes: IMAP_LITERAL_BEFORE_LOGIN_MAX_BYTES,
  literalsPerCommandMaxBytes: IMAP_LITERALS_PER_COMMAND_MAX_BYTES,
  appendMessagesMax: IMAP_APPEND_MESSAGES_MAX,
  absurdLiteralBytes: IMAP_ABSURD_LITERAL_BYTES,
  loginTimeMs: LOGIN_TIMEOUT_MS,
  autologoutMs: IMAP_AUTOLOGOUT_MS,
  idleKeepaliveMs: IMAP_IDLE_KEEPALIVE_MS,
  badCommandsMax: BAD_COMMANDS_MAX,
  unwrittenMaxBytes: WRITE_AHEAD_MAX_BYTES,
  stuckReaderMs: STUCK_READER_TIMEOUT_MS,
  inflateRatioMax: IMAP_INFLATE_RATIO_MAX,
  inflateRatioFromBytes: IMAP_INFLATE_RATIO_FROM_BYTES,
};
