/** The workflow of an erasure that was asked for by HTTP: it has the id of its row only. */
export const ERASE_CONTENT = 'eraseContent';

export const erasureWorkflowId = (erasureId: string): string => `erase/${erasureId}`;

/** A portion that reads a large table may take long; the activity shows by itself that it works. */
export const ERASURE_HEARTBEAT_MS = 60_000;
