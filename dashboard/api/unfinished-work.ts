/**
 * What a person has begun and not finished, such as the edit of a held message: it outlives the page that shows it and a
 * reload of it, in this tab, until it is finished or somebody else signs in.
 */
const PREFIX = 'agent-mailbox.unfinished.';
const OWNER = 'agent-mailbox.unfinished-of';

/** For browsers that refuse storage, and for work that is too long for it. */
const memory = new Map<string, string>();

export function readWork(name: string): unknown {
  const text = memory.get(name) ?? sessionStorage.getItem(PREFIX + name);
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param work undefined: it is finished */
export function keepWork(name: string, work: unknown): void {
  memory.delete(name);
  sessionStorage.removeItem(PREFIX + name);
  if (work === undefined) return;
  const text = JSON.stringify(work);
  try {
    sessionStorage.setItem(PREFIX + name, text);
  } catch {
    memory.set(name, text);
  }
}

/** Forgets all work. */
export function forgetWork(): void {
  memory.clear();
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

/** Somebody signs in: the work of another person is forgotten. */
export function keepWorkOf(email: string): void {
  const owner = email.trim().toLowerCase();
  if (sessionStorage.getItem(OWNER) !== owner) forgetWork();
  sessionStorage.setItem(OWNER, owner);
}
