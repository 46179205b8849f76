/** The bounds of POP3 connections. */

/** A command line with its CRLF (RFC 2449 §4 asks for at least 255 bytes). */
export const LINE_MAX_BYTES = 512;
/** The same of a SASL answer. */
export const AUTH_LINE_MAX_BYTES = 8_192;
/** Default of the autologout timer (RFC 1939 §3). */
export const IDLE_TIMEOUT_MS = 600_000;
