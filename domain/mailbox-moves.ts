/** Exports and imports of mailboxes by HTTP: their formats, limits and times. */

export const EXPORT_FORMATS = ['mbox', 'maildir', 'archive'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const IMPORT_FORMATS = ['mbox', 'mboxo', 'mboxrd', 'mboxcl2', 'maildir', 'archive'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Of a file that is imported over HTTP, and of one request with a portion of it. */
export const IMPORT_FILE_MAX_BYTES = 10 * 1_073_741_824;
export const IMPORT_PORTION_MAX_BYTES = 64 * 1_048_576;
/** Of what was not imported, or not as it was, that an import over HTTP names; all are counted. */
export const IMPORT_PROBLEMS_NAMED_MAX = 200;

export const MOVE_STATES = ['receiving', 'running', 'finished', 'failed'] as const;
export type MoveState = (typeof MOVE_STATES)[number];

export const MOVE_DIRECTIONS = ['export', 'import'] as const;
export type MoveDirection = (typeof MOVE_DIRECTIONS)[number];

/** Bytes of a part of a file before its encryption, at most. */
export const MOVE_PART_MAX_BYTES = 1_048_576;
/** A finished export can be downloaded for so long. */
export const EXPORT_LIFE_HOURS = 48;
/** From the begin of an import, and of an export that has not finished. */
export const MOVE_LIFE_HOURS = 168;
/** Of one installation that have not ended, at most: each may have gigabytes in the database. */
export const OPEN_MOVES_MAX = 20;

/** Places under which the secrets of a move are sealed. */
export const moveKeyPlace = (id: string): string => `mailbox_move:key_sealed:${id}`;
export const movePasswordPlace = (id: string): string => `mailbox_move:imap_password_sealed:${id}`;

/** The workflow has the id of its row only. */
export const MOVE_MAILBOX = 'moveMailbox';
export const moveWorkflowId = (moveId: string): string => `move/${moveId}`;
/** A message, or an answer of another server, may take long; the activity shows by itself that it works. */
export const MOVE_HEARTBEAT_MS = 60_000;
