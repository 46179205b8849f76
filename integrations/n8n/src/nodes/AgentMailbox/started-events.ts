/**
 * Which events have started a workflow, in the memory of this process: n8n (2.40) does not store static data that a
 * webhook changes before it starts an execution. An event is noted when its execution runs, so that one that n8n could
 * not start is not taken for a repetition when the service sends it again.
 */
const REMEMBERED_EVENTS = 500;
/** Ids of the last events, by the key of the endpoint, oldest first. */
const started = new Map<string, Set<unknown>>();

export const hasStarted = (key: string, eventId: unknown): boolean => started.get(key)?.has(eventId) === true;

export function noteStarted(key: string, eventId: unknown): void {
  if (eventId === undefined) return;
  const events = started.get(key) ?? new Set<unknown>();
  started.set(key, events.add(eventId));
  const [oldest] = events;
  if (events.size > REMEMBERED_EVENTS) events.delete(oldest);
}
