/**
 * Which deliveries have started a workflow, in the memory of this process: n8n (2.40) does not store static data that a
 * webhook changes before it starts an execution.
 */
const REMEMBERED_DELIVERIES = 500;
/** `webhook-id` of the last deliveries, by the key of the endpoint, oldest first. */
const started = new Map<string, Set<string>>();

/** A delivery is repeated until it is acknowledged. @returns whether it has started the workflow already */
export function isRepeated(key: string, delivery: string): boolean {
  const deliveries = started.get(key) ?? new Set<string>();
  if (deliveries.has(delivery)) return true;
  started.set(key, deliveries.add(delivery));
  const [oldest] = deliveries;
  if (deliveries.size > REMEMBERED_DELIVERIES && oldest !== undefined) deliveries.delete(oldest);
  return false;
}
