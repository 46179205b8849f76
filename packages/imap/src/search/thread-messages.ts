/** THREAD algorithms (RFC 5256 §3): ORDEREDSUBJECT and REFERENCES. */

import type { MessageRow } from '@agent-mailbox/mail-store';
import { firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { MessageBytes } from '#imap/fetch/message-content.ts';
import type { Session } from '#imap/session/session.ts';
import { SORT_COLUMNS, sentTime, threadSubject } from './sort-messages.ts';
import { sortInTurns, Turns } from './take-turns.ts';

/** A message with its replies; null: a missing message that connects the others. */
export interface ThreadNode {
  readonly uid: number | null;
  readonly children: readonly ThreadNode[];
}

export interface Threadable {
  readonly uid: number;
  readonly time: number;
  readonly subject: string;
  readonly isReply: boolean;
  /** Message-ID with brackets, or empty. */
  readonly messageId: string;
  /** Message-IDs above it, oldest first. */
  readonly references: readonly string[];
}

const SMALL_MESSAGE_BYTES = 65_536;
const PORTION = 100;
const MESSAGE_ID = /<[^<>\s]{1,998}>/g;

/** The data that threading compares, of the messages at these indices. */
export async function threadables(session: Session, indices: readonly number[], withReferences: boolean) {
  const { selected, store } = session;
  const uids = Uint32Array.from(indices, (index) => selected.map.uidAt(index));
  const found: Threadable[] = [];
  const listed = withReferences ? await listedReferences(session, uids) : new Map<number, readonly string[]>();
  const parts = withReferences && listed.size < uids.length;
  for await (const rows of store.rows(selected.folder.id, uids, { ...SORT_COLUMNS, parts }))
    for (let at = 0; at < rows.length; at += PORTION) {
      const portion = rows.slice(at, at + PORTION);
      const unlisted = withReferences ? portion.filter(({ uid }) => !listed.has(uid)) : [];
      for (const [i, references] of (await referencesOf(session, unlisted)).entries())
        listed.set(unlisted[i]?.uid ?? 0, references);
      for (const row of portion) {
        const { base, isReply } = threadSubject(row.sortKeys?.subject ?? '');
        found.push({
          uid: row.uid,
          time: sentTime(row),
          subject: base,
          isReply,
          messageId: row.sortKeys?.messageIdHeader ?? '',
          references: listed.get(row.uid) ?? [],
        });
      }
    }
  return found;
}

/** From the index of header lines; of messages that are not in it nothing is said. */
async function listedReferences(
  { selected, store }: Session,
  uids: Uint32Array,
): Promise<Map<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  const turns = new Turns();
  for await (const messages of store.listed?.(selected.folder.id, uids, ['references', 'in-reply-to']) ?? []) {
    let from = 0;
    for (const [i, uid] of messages.uids.entries()) {
      const to = messages.ends[i] ?? from;
      if (messages.indexed[i] === 1) found.set(uid, to === from ? [] : referencesIn(messages.lines.subarray(from, to)));
      from = to;
      if (turns.take()) await turns.next();
    }
  }
  return found;
}

/** @param header its fields, or these two of them */
function referencesIn(header: Uint8Array): readonly string[] {
  const fields = headerFields(header, 0, header.length);
  const ids = (name: string): readonly string[] => firstValue(fields, name)?.match(MESSAGE_ID) ?? [];
  const references = ids('references');
  return references.length > 0 ? references : ids('in-reply-to').slice(0, 1);
}

async function referencesOf({ store }: Session, rows: readonly MessageRow[]): Promise<(readonly string[])[]> {
  if (rows.length === 0) return [];
  const small = rows.filter(({ size }) => size <= SMALL_MESSAGE_BYTES).map(({ messageId }) => messageId);
  const contents = await store.contents([...new Set(small)], SMALL_MESSAGE_BYTES);
  const lists: (readonly string[])[] = [];
  for (const row of rows) {
    const message = new MessageBytes(store, row.messageId, row.size, contents.get(row.messageId));
    const header = await message.read(0, row.parts?.body ?? 0);
    lists.push(referencesIn(header));
  }
  return lists;
}

const byTime = (a: Threadable, b: Threadable): number => a.time - b.time || a.uid - b.uid;

/** Same base subject: one thread, the first message its head. */
export async function orderedSubject(messages: readonly Threadable[]): Promise<ThreadNode[]> {
  const groups = new Map<string, Threadable[]>();
  for (const message of await sortInTurns(messages, byTime)) {
    const group = groups.get(message.subject);
    if (group === undefined) groups.set(message.subject, [message]);
    else group.push(message);
  }
  return [...groups.values()].flatMap(([head, ...rest]) =>
    head === undefined ? [] : [{ uid: head.uid, children: rest.map(({ uid }) => ({ uid, children: [] })) }],
  );
}

class Container {
  message: Threadable | null = null;
  parent: Container | null = null;
  readonly children = new Set<Container>();

  adopt(child: Container): void {
    child.parent?.children.delete(child);
    child.parent = this;
    this.children.add(child);
  }
}

/** Whether `above` is this container or an ancestor of it. */
function isWithin(container: Container, above: Container, turns: Turns): boolean {
  let steps = 0;
  let at: Container | null = container;
  for (; at !== null && at !== above; at = at.parent) steps++;
  turns.take(steps);
  return at !== null;
}

/** Steps as numbered in RFC 5256 §3, REFERENCES. */
export async function referencesThreads(messages: readonly Threadable[]): Promise<ThreadNode[]> {
  const turns = new Turns();
  const containers = new Map<string, Container>();
  const named = (id: string): Container => {
    let container = containers.get(id);
    if (container === undefined) containers.set(id, (container = new Container()));
    return container;
  };
  // Step 1: link every message below what it refers to.
  const all: Container[] = [];
  for (const message of messages) {
    const known = message.messageId === '' ? undefined : named(message.messageId);
    // A second message with the same Message-ID, or one without, gets its own container.
    const own = known === undefined || known.message !== null ? new Container() : known;
    own.message = message;
    all.push(own);
    let above: Container | null = null;
    for (const id of message.references) {
      const each = named(id);
      if (above !== null && each.parent === null && !isWithin(above, each, turns)) above.adopt(each);
      above = each;
      if (turns.take()) await turns.next();
    }
    if (above !== null && isWithin(above, own, turns)) above = null;
    own.parent?.children.delete(own);
    own.parent = null;
    above?.adopt(own);
    if (turns.take()) await turns.next();
  }
  // Step 2: the roots.
  const roots = new Set<Container>();
  for (const container of [...containers.values(), ...all]) if (container.parent === null) roots.add(container);
  // Step 3: remove empty containers, promote their children.
  const pruned: Container[] = [];
  for (const root of roots) {
    for (const container of prune(root, true, turns)) pruned.push(container);
    if (turns.take()) await turns.next();
  }
  // Step 4 sorts roots by time; steps 5 and 6 join threads of one subject.
  const joined = await joinSubjects(await sortRoots(pruned, turns), turns);
  const nodes: ThreadNode[] = [];
  for (const root of await sortRoots(joined, turns)) {
    nodes.push(nodeOf(root, turns));
    if (turns.take()) await turns.next();
  }
  return nodes;
}

/**
 * Without recursion: References may chain thousands of messages.
 *
 * @returns the replacement of the container
 */
function prune(top: Container, isRoot: boolean, turns: Turns): Container[] {
  const order: Container[] = [];
  const stack = [top];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    order.push(next);
    for (const child of next.children) stack.push(child);
  }
  turns.take(order.length);
  // Children before their parents.
  for (const container of order.reverse()) {
    if (container === top) break;
    if (container.message !== null) continue;
    const { parent } = container;
    parent?.children.delete(container);
    for (const child of [...container.children]) parent?.adopt(child);
  }
  if (top.message !== null) return [top];
  const children = [...top.children];
  if (children.length === 0) return [];
  if (isRoot && children.length > 1) return [top];
  for (const child of children) child.parent = null;
  top.children.clear();
  return children;
}

/** An empty container is sorted by the time of its first child. */
function headOf(container: Container): Threadable {
  if (container.message !== null) return container.message;
  const heads = [...container.children].flatMap(({ message }) => (message === null ? [] : [message])).sort(byTime);
  const [first] = heads;
  if (first === undefined) throw new Error('an empty container without children');
  return first;
}

const sortSiblings = (list: readonly Container[]): Container[] =>
  list
    .map((container) => ({ container, head: headOf(container) }))
    .sort((a, b) => byTime(a.head, b.head))
    .map(({ container }) => container);

async function sortRoots(list: readonly Container[], turns: Turns): Promise<Container[]> {
  const heads: { container: Container; head: Threadable }[] = [];
  for (const container of list) {
    heads.push({ container, head: headOf(container) });
    if (turns.take(1 + container.children.size)) await turns.next();
  }
  return (await sortInTurns(heads, (a, b) => byTime(a.head, b.head), turns)).map(({ container }) => container);
}

/** Step 5: threads with the same base subject become one. */
async function joinSubjects(roots: readonly Container[], turns: Turns): Promise<Container[]> {
  const table = new Map<string, Container>();
  for (const root of roots) {
    if (turns.take()) await turns.next();
    const { subject, isReply } = headOf(root);
    if (subject === '') continue;
    const before = table.get(subject);
    if (before === undefined) table.set(subject, root);
    // An empty one, or one that is no reply, makes the better head.
    else if (
      (root.message === null && before.message !== null) ||
      (before.message !== null && before.message.isReply && root.message !== null && !isReply)
    )
      table.set(subject, root);
  }
  const result = new Set(roots);
  for (const root of roots) {
    if (turns.take()) await turns.next();
    const { subject, isReply } = headOf(root);
    const head = subject === '' ? undefined : table.get(subject);
    if (head === undefined || head === root) continue;
    if (head.message === null && root.message === null) {
      for (const child of [...root.children]) head.adopt(child);
      result.delete(root);
    } else if (head.message === null || (isReply && !head.message.isReply)) {
      head.adopt(root);
      result.delete(root);
    } else {
      const joint = new Container();
      result.delete(head);
      result.delete(root);
      joint.adopt(head);
      joint.adopt(root);
      result.add(joint);
      table.set(subject, joint);
    }
  }
  return [...result];
}

function nodeOf(top: Container, turns: Turns): ThreadNode {
  interface Open {
    readonly uid: number | null;
    readonly children: Open[];
  }
  const open = (container: Container): Open => ({ uid: container.message?.uid ?? null, children: [] });
  const root = open(top);
  const stack: [Container, Open][] = [[top, root]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [container, node] = next;
    turns.take(1 + container.children.size);
    for (const child of sortSiblings([...container.children])) {
      const opened = open(child);
      node.children.push(opened);
      stack.push([child, opened]);
    }
  }
  return root;
}

/** `(2)(3 6 (4 23)(44 7 96))`: a chain is written flat, siblings in parentheses. */
export function printThreads(threads: readonly ThreadNode[], number: (uid: number) => number): string {
  let text = '';
  // Texts to be written and nodes to be opened, last first.
  const stack: (string | ThreadNode)[] = threads.toReversed().flatMap((thread) => [')', thread, '(']);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') {
      text += next;
      continue;
    }
    if (next.uid !== null) text += number(next.uid);
    const [only, ...more] = next.children;
    if (only === undefined) continue;
    if (next.uid !== null) text += ' ';
    if (more.length === 0) stack.push(only);
    else for (const child of next.children.toReversed()) stack.push(')', child, '(');
  }
  return text;
}
